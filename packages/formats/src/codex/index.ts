/** The rollouts of Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, the items of the Responses API with what happened around them. */
import { defineFormat, type Format, type Writer } from "../base/format.ts"
import { isObject } from "../base/values.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { FORMAT } from "./codec.ts"
import { isOlderHeader, isOldestDocument } from "./older.ts"
import { read } from "./read.ts"
import { write } from "./write.ts"

export { codexPathOf, SESSION_INDEX, threadOfName } from "./place.ts"

export const codex: Format & Writer = {
  ...defineFormat({
    format: FORMAT,
    title: "Codex",
    versions: "0.1 to 0.171",
    rejects: ({ records, document }) => {
      const isRollout = records.some(({ type, payload }) => type === "session_meta" && isObject(payload))
      const isOlder = records[0] !== undefined && isOlderHeader(records[0]) && records.length > 1
      const isOldest = document?.kind === "object" && isOldestDocument(document.names)
      return isRollout || isOlder || isOldest ? undefined : "has no line of type `session_meta` with a `payload`"
    },
    read,
  }),
  write: wellFormedWriter(FORMAT, write),
}
