/** The chats of Qwen Code: `projects/<folder>/chats/<id>.jsonl` in `~/.qwen`. Only read. Versions before 0.4 wrote the files of Gemini CLI. */
import { defineFormat, type Format } from "../base/format.ts"
import { type Fields, fieldsOf, isObject } from "../base/values.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"

export const qwenCode: Format = defineFormat({
  format: FORMAT,
  title: "Qwen Code",
  versions: "0.4 to 0.24",
  rejects: ({ records }) =>
    records.some(isOwn) ? undefined : "has no line with a `uuid`, a `sessionId` and a `message` with `parts`",
  read,
})

/** Claude Code has such lines too, but with a `content` in the message. A session without a message has lines of the system. */
function isOwn({ uuid, sessionId, type, message, systemPayload }: Fields): boolean {
  if (typeof uuid !== "string" || typeof sessionId !== "string") return false
  return Array.isArray(fieldsOf(message)["parts"]) || (type === "system" && isObject(systemPayload))
}
