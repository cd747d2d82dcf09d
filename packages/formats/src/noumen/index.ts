/** The sessions of noumen: `<id>.jsonl` without a header. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"

const TYPES: ReadonlySet<unknown> = new Set(["message", "compact-boundary", "file-checkpoint"])

export const noumen: Format = defineFormat({
  format: FORMAT,
  title: "noumen",
  rejects: ({ records }) =>
    records.some(({ type, sessionId }) => TYPES.has(type) && typeof sessionId === "string")
      ? undefined
      : "has no line of type message, compact-boundary or file-checkpoint with a sessionId",
  read,
})
