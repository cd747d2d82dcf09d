/** What the lines of a "recordType" log are, by `recordType`, and its `metadata.json`. */
import { type KindOf, kindOf, type RecordTypes } from "../base/record-types.ts"
import { FORMAT } from "./codec.ts"

export const RECORD_TYPES: RecordTypes = {
  message: ["content", "1"],
  compaction: ["content", "1"],
  metadata: ["state", "1"],
}

export const kindOfLine: KindOf = (customType) => kindOf(RECORD_TYPES, customType.slice(FORMAT.length + 1))
