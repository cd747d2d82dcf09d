/** The sessions of Cersei: `<id>.jsonl`, continued in `<id>_part2.jsonl` and further parts. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"

const TYPES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "summary", "tombstone"])

export const cersei: Format = defineFormat({
  format: FORMAT,
  title: "Cersei",
  rejects: ({ records }) =>
    records.some(({ type, session_id: id }) => TYPES.has(type) && typeof id === "string")
      ? undefined
      : "has no line of type user, assistant, system, summary or tombstone with a session_id",
  read,
})
