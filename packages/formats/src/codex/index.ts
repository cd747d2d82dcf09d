/** The rollouts of Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, the items of the Responses API with what happened around them. */
import { defineFormat, type Format, type Writer } from "../base/format.ts"
import { isObject } from "../base/values.ts"
import { wellFormedWriter } from "../base/well-formed.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"
import { write } from "./write.ts"

export { codexPathOf } from "./place.ts"

export const codex: Format & Writer = {
  ...defineFormat({
    format: FORMAT,
    title: "Codex",
    rejects: ({ records }) =>
      records.some(({ type, payload }) => type === "session_meta" && isObject(payload))
        ? undefined
        : "has no line of type `session_meta` with a `payload`",
    read,
  }),
  write: wellFormedWriter(FORMAT, write),
}
