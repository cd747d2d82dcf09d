/** The place of a session in the folder of pi (`PI_CODING_AGENT_DIR`, or `~/.pi/agent`), which lists the sessions of a folder by the path. */
import { timestampOf } from "../base/values.ts"

/** The path below the folder of pi, with `/` between its parts. `createdAt`: ISO 8601. */
export function piPathOf(id: string, cwd: string, createdAt: string): string {
  const time = new Date(timestampOf(createdAt) ?? 0).toISOString()
  return `sessions/--${cwd.replace(/^[/\\]/, "").replaceAll(/[/\\:]/g, "-")}--/${time.replaceAll(/[:.]/g, "-")}_${id}.jsonl`
}
