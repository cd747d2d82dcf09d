/** What the records of a context are, by their `role`. */
import { type KindOf, kindOf, type RecordTypes } from "../base/record-types.ts"
import { fieldsOf, stringOf } from "../base/values.ts"

export const RECORD_TYPES: RecordTypes = {
  user: ["content", "0.1"],
  assistant: ["content", "0.1"],
  tool: ["content", "0.1"],
  system: ["content", "0.1"],
  _checkpoint: ["state", "0.8"],
  _usage: ["annotation", "0.8"],
  // The agent makes its instructions anew for a session without this record.
  _system_prompt: ["state", "1.0"],
}

export const kindOfRecord: KindOf = (_, data) => {
  const role = stringOf(fieldsOf(data)["role"])
  const kind = role === undefined ? "unknown" : kindOf(RECORD_TYPES, role)
  // A message that could not be read.
  return kind === "content" ? "unknown" : kind
}
