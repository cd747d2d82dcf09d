/** What the parts of a document of molf are: its messages, and its other fields. */
import { type KindOf, kindOf, type RecordTypes } from "../base/record-types.ts"

export const RECORD_TYPES: RecordTypes = {
  session: ["state", "1"],
  // The question of the last summary. Messages of other roles are told by these.
  user: ["content", "1"],
  assistant: ["content", "1"],
  tool: ["content", "1"],
}

export const kindOfRecord: KindOf = (customType, data) =>
  kindOf(RECORD_TYPES, customType === "molf/message" ? roleOf(data) : customType.slice("molf/".length))

function roleOf(data: unknown): string {
  const role = (data as { readonly role?: unknown } | null | undefined)?.role
  return typeof role === "string" ? role : ""
}
