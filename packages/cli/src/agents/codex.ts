/** Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, older ones `.jsonl.zst`. A session of a subagent is a rollout like any other, and names its parent. */
import { join } from "node:path"
import { codex, codexPathOf } from "@sessions/formats/codex"
import { type Agent, type AgentSystem, shellWord, type Target } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const codexAgent: Agent = {
  format: codex,
  sessions: (system) =>
    sessionFiles(folderOf(system), (path) =>
      /^(?:archived_)?sessions\/(?:.*\/)?rollout-[^/]*\.(?:jsonl(?:\.zst)?|json)$/.test(path),
    ),
}

export const codexTarget: Target = {
  format: codex,
  place: ({ id, cwd, createdAt }, system) => ({
    file: join(folderOf(system), codexPathOf(id, createdAt)),
    resume: `cd ${shellWord(cwd)} && codex resume ${id}`,
  }),
}

function folderOf({ env, home }: AgentSystem): string {
  return env["CODEX_HOME"] || join(home, ".codex")
}
