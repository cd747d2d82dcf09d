/** What the lines of Cersei are, by their `type`. */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"

export const RECORD_TYPES: RecordTypes = {
  user: ["content", "1"],
  assistant: ["content", "1"],
  system: ["content", "1"],
  summary: ["content", "1"],
  tombstone: ["state", "1"],
}

export const kindOfLine: KindOf = kindsBy(RECORD_TYPES)
