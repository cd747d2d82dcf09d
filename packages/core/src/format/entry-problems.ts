/**
 * Checks of entries, which return the first problem as a sentence that starts with the field's path, or undefined. Unknown fields and entry
 * types pass.
 */
import type { Entry, KnownEntry } from "./entry.ts"
import { ENTRY_TYPES } from "./entry-types.ts"
import {
  type Check,
  isCount,
  isNonEmpty,
  isObject,
  isString,
  mapOf,
  nullable,
  oneOf,
  optional,
  sentence,
  shape,
} from "./shape.ts"

/** Whether a record has what reading a log requires: a type that is not the header's, an id, and a parent or null. */
export function isEntry(record: unknown): record is Entry {
  if (!isObject(record)) return false
  const { type, id, parentId } = record
  return (
    typeof type === "string" &&
    type !== "session" &&
    typeof id === "string" &&
    id !== "" &&
    (parentId === null || typeof parentId === "string")
  )
}

/** Whether an entry has one of the known types and the fields of that type. Entries that were read from a log may have other fields. */
export function isKnownEntry(entry: Entry): entry is KnownEntry {
  return ENTRY_TYPES.has(entry.type) && payload(entry) === undefined
}

/** Checks the fields that all entries share and those of its type. */
export function entryProblem(record: unknown): string | undefined {
  return sentence("The entry", base(record) ?? payload(record))
}

/** Checks the type of a new entry and the fields of that type. `append` sets the fields that all entries share. */
export function payloadProblem(record: unknown): string | undefined {
  return sentence("The entry", typed(record) ?? payload(record))
}

const entryType: Check = (value) =>
  value === "session" ? ' must not be "session", which is the header\'s.' : isString(value)
const typed: Check = shape({ type: entryType })
const base: Check = shape({
  type: entryType,
  id: isNonEmpty,
  parentId: nullable(isString),
  seq: isCount,
  timestamp: isString,
  writtenAt: optional(isString),
  blobs: optional(mapOf(oneOf("utf8", "base64"))),
})
const payload: Check = (value) => ENTRY_TYPES.get((value as { type: string }).type)?.check(value)
