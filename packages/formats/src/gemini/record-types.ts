/** What the records of a chat of Gemini CLI are: messages by their `type`, other lines by their `$` field, or the header. */
import { type KindOf, kindOf, type RecordTypes } from "../base/record-types.ts"
import { FORMAT } from "./codec.ts"

export const RECORD_TYPES: RecordTypes = {
  user: ["content", "0.1"],
  gemini: ["content", "0.1"],
  // For people: the loader sends only the two above.
  info: ["annotation", "0.8"],
  warning: ["annotation", "0.8"],
  error: ["annotation", "0.8"],
  session: ["state", "0.1"],
  $set: ["state", "0.40"],
  $rewindTo: ["state", "0.40"],
}

export const kindOfRecord: KindOf = (customType) => kindOf(RECORD_TYPES, customType.slice(FORMAT.length + 1))
