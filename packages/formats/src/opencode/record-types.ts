/** What the parts of a document of opencode are: `custom` entries are its fields, and messages that have no place in a conversation. */
import { type KindOf, kindOf, type RecordTypes } from "../base/record-types.ts"

export const RECORD_TYPES: RecordTypes = {
  session: ["state", "0.3"],
  document: ["state", "1.0"],
  // Answers that failed, which opencode does not send, and messages of no part that a model gets.
  message: ["state", "0.3"],
  compaction: ["state", "1.0"],
}

/** The fields of the document that no version has are content of another program. */
export const kindOfRecord: KindOf = (customType) => kindOf(RECORD_TYPES, customType.slice("opencode/".length))
