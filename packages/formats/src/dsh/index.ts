/** The sessions of deepseek-harness (`dsh`): an event log for each, `session.jsonl`, or `session.v3.jsonl` for later generations. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT } from "./codec.ts"
import { isHeader } from "./header.ts"
import { read } from "./read.ts"

export const dsh: Format = defineFormat({
  format: FORMAT,
  title: "deepseek-harness",
  versions: "0 to 3",
  rejects: ({ records }) =>
    isHeader(records[0])
      ? undefined
      : "does not begin with a header of type session that has `version` and `createdAt`",
  read,
})
