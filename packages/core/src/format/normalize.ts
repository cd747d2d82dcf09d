/** Checks a new entry and completes it with the fields that the session assigns. */
import { SessionError } from "./errors.ts"
import { payloadProblem } from "./guards.ts"
import type { EntryPayload, NewEntry } from "./new-entry.ts"
import type { TextBlock } from "./message.ts"
import type { Entry } from "./entry.ts"
import { type Fields, isObject } from "./shape.ts"

/** The fields that a session assigns to every entry. */
export interface EntryPlace {
  readonly id: string
  readonly parentId: string | null
  readonly seq: number
  readonly timestamp: string
}

/**
 * Checks a new entry and turns string contents into text blocks; the input is not modified. Throws `invalid`, with the field, for a wrong
 * shape, for more attachments than a message may have, and for fields that only the session assigns.
 */
export function normalizeNewEntry(input: NewEntry): EntryPayload {
  if (!isObject(input)) throw refused("The entry must be an object.")
  for (const field of ["parentId", "seq", "blobs"]) {
    if (input[field] !== undefined) throw refused(`${field} is given by the session and must not be set.`)
  }
  const { id, timestamp } = input as { id?: unknown; timestamp?: unknown }
  if (id !== undefined && (typeof id !== "string" || id === "")) throw refused("id must be a string that is not empty.")
  if (timestamp !== undefined && !isTimestamp(timestamp)) {
    throw refused("timestamp must be an ISO 8601 date and time with a time zone, such as 2026-01-31T09:30:00.000Z.")
  }
  const payload = withBlocks(input)
  const problem = payloadProblem(payload)
  if (problem !== undefined) throw refused(problem)
  return payload as EntryPayload
}

/** The complete entry, with its keys in the order of a line. */
export function placeEntry(payload: EntryPayload, place: EntryPlace): Entry {
  const { id, parentId, seq, timestamp } = place
  const entry: Entry = { type: payload.type, id, parentId, seq, timestamp, ...(payload as object) }
  // A payload may have these fields as undefined.
  const isPlaced = entry.id === id && entry.parentId === parentId && entry.seq === seq && entry.timestamp === timestamp
  return isPlaced ? entry : Object.assign(entry, place)
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

function isTimestamp(value: unknown): boolean {
  return typeof value === "string" && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value))
}

function withBlocks(entry: Fields): Fields {
  if (entry["type"] === "message") return withBlocksAt(entry, "message")
  if (entry["type"] === "context_edit") return withBlocksAt(entry, "replacement")
  return entry["type"] === "custom_message" ? blocksOf(entry) : entry
}

function withBlocksAt(entry: Fields, key: string): Fields {
  const holder = entry[key]
  if (!isObject(holder) || typeof holder["content"] !== "string") return entry
  return { ...entry, [key]: blocksOf(holder) }
}

function blocksOf(holder: Fields): Fields {
  const { content } = holder
  return typeof content === "string" ? { ...holder, content: textBlocks(content) } : holder
}

/** The blocks that a string content stands for. */
export function textBlocks(text: string): readonly [TextBlock] {
  return [{ type: "text", text }]
}

function refused(problem: string): SessionError {
  return new SessionError("invalid", `The entry was not appended: ${problem}`)
}
