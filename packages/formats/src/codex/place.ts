/** The place of a rollout in the folder of Codex (`CODEX_HOME`, or `~/.codex`), which finds a session by the id in the file's name. */
import type { Header } from "@sessions/core"
import { uuidOf } from "../base/ids.ts"
import { timestampOf } from "../base/values.ts"
import { FORMAT } from "./codec.ts"

/** The id that a session has in a rollout: the one it was imported with, or a UUID that follows from its own. */
export async function codexIdOf({ id, origin }: Header): Promise<string> {
  return origin?.format === FORMAT && origin.id !== undefined ? origin.id : await uuidOf(id)
}

/** The path below the folder of Codex, with `/` between its parts. `createdAt`: ISO 8601. Codex uses the local time, and finds any. */
export function codexPathOf(id: string, createdAt: string): string {
  const time = timestampOf(createdAt) ?? new Date(0).toISOString()
  const [day = "", clock = ""] = new Date(time).toISOString().split("T")
  return `sessions/${day.replaceAll("-", "/")}/rollout-${day}T${clock.slice(0, 8).replaceAll(":", "-")}-${id}.jsonl`
}

/** The name under which a reader asks for the rollout of a thread, of which a fork has only the continuation. */
export function rolloutName(threadId: string): string {
  return `${ROLLOUT}${threadId}`
}

/** The thread of such a name; undefined for another name. */
export function threadOfName(name: string): string | undefined {
  return name.startsWith(ROLLOUT) ? name.slice(ROLLOUT.length) : undefined
}

const ROLLOUT = "codex-rollout:"

/** The file with the names of all sessions, in the folder of Codex. */
export const SESSION_INDEX = "session_index.jsonl"
