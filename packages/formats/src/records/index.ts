/** "recordType" logs: a folder `<id>` with `session.jsonl` and `metadata.json`. Only read. */
import { defineFormat, type Format } from "../base/format.ts"
import { FORMAT } from "./codec.ts"
import { read } from "./read.ts"

export const records: Format = defineFormat({
  format: FORMAT,
  title: "recordType logs",
  versions: "1",
  rejects: ({ records: lines }) =>
    lines.some(({ recordType, schemaVersion }) => typeof recordType === "string" && typeof schemaVersion === "number")
      ? undefined
      : "has no line with `recordType` and `schemaVersion`",
  read,
})
