/** Reads a JSON document with a list of records. It is held in memory; its messages are a chain. */
import { type Entry, type Header, SessionError } from "@sessions/core"
import { sha256Hex } from "@sessions/core/storage"
import { sourceOf } from "./codec.ts"
import type { Format, ReadOptions, ReadSource } from "./format.ts"
import type { DocumentFacts, ListFormat, RecordMessages } from "./list-format.ts"
import { headerOf, LogBuilder } from "./log-builder.ts"
import { Losses } from "./losses.ts"
import { type Fields, fieldsOf, isObject, jsonOf } from "./values.ts"

/** The version of the sources: of what `write` of the formats makes of single messages. */
const VERSION = 1

/** `customType` of the document without its list, and of a record that is no message. */
export const documentType = (format: string): string => `${format}/document`
export const recordType = (format: string): string => `${format}/record`

/** The position 1 is that of the document. */
const FIRST_RECORD = 2

export async function* readList(
  list: ListFormat,
  { main }: ReadSource,
  { note }: ReadOptions,
): ReturnType<Format["read"]> {
  const document = await parsedDocument(list, main)
  const records = recordsOfDocument(list, document)
  const facts = isObject(document) ? (list.factsOf?.(document) ?? {}) : {}
  const header = await headerOfDocument(list, document, facts)
  yield header
  const log = new LogBuilder(header, note, (customType, data) =>
    customType === documentType(list.format) ? "state" : (list.kindOf?.(data) ?? "unknown"),
  )
  if (isObject(document)) yield* documentEntries(list, document, facts, log)
  let at = FIRST_RECORD
  for (const part of list.read(records)) {
    if (part.problem !== undefined)
      note({ code: "invalid_record", message: `Record ${at - FIRST_RECORD + 1} is kept aside: it ${part.problem}.` })
    yield* entriesOf(list, part, at, log)
    at += part.records.length
  }
}

async function parsedDocument({ title }: ListFormat, main: AsyncIterable<string>): Promise<unknown> {
  let text = ""
  for await (const piece of main) text += piece
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = `A file of ${title} is one JSON document, and this one is incomplete or no JSON.`
    throw new SessionError("not_a_session", message, { cause })
  }
}

function recordsOfDocument({ title, field }: ListFormat, document: unknown): readonly unknown[] {
  const records = Array.isArray(document) ? (document as readonly unknown[]) : fieldsOf(document)[field]
  if (Array.isArray(records)) return records as readonly unknown[]
  throw new SessionError("not_a_session", `A file of ${title} is a JSON array, or an object with one in \`${field}\`.`)
}

/** A document without an id of its own is known by its content. */
async function headerOfDocument({ format }: ListFormat, document: unknown, facts: DocumentFacts): Promise<Header> {
  const id = facts.id ?? (await sha256Hex(jsonOf(document)))
  const timestamp = facts.timestamp ?? new Date(0).toISOString()
  return headerOf({ format, version: VERSION, id, timestamp }, facts.header)
}

function* documentEntries(
  { format, field }: ListFormat,
  document: Fields,
  { messages = [] }: DocumentFacts,
  log: LogBuilder,
): Generator<Entry, void, undefined> {
  const { [field]: _, ...data } = document
  yield log.add({ type: "custom", customType: documentType(format), data }, { source: { at: [1] } })
  for (const message of messages) yield log.add({ type: "message", message }, { source: { at: [] } })
}

/** The first entry of a part holds its records; the others follow from it. */
function* entriesOf(
  list: ListFormat,
  { records, messages, timestamp, resetAt }: RecordMessages,
  first: number,
  log: LogBuilder,
): Generator<Entry, void, undefined> {
  const at = records.map((_, i) => first + i)
  if (messages.length === 0) {
    const customType = recordType(list.format)
    for (const [i, data] of records.entries())
      yield log.add({ type: "custom", customType, data }, { timestamp, source: { at: [first + i] } })
  }
  const reset = (i: number) =>
    i === resetAt ? [log.add({ type: "reset_boundary" }, { timestamp, source: { at: [] } })] : []
  for (const [i, message] of messages.entries()) {
    yield* reset(i)
    const source = (entry: Entry) => sourceOf(at, records as readonly Fields[], encodedRecords(list, entry))
    yield log.add({ type: "message", message }, { timestamp, source: i === 0 ? source : { at: [] } })
  }
  yield* reset(messages.length)
}

/** The records that the records of an imported message are stored as a difference from. */
export function encodedRecords(list: ListFormat, { id, timestamp, ...entry }: Entry): readonly Fields[] {
  return list.write([{ id, timestamp, message: entry["message"] as never }], new Losses())
}
