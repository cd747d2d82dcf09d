/**
 * Writes a session as a JSON document with a list of records. Records that were read from a document of the same format are restored
 * exactly, as long as their messages are in the file and unchanged; other messages are written anew.
 */
import type { Entry } from "@sessions/core"
import { CallIds, fitted } from "./call-ids.ts"
import { readSource, recordsOf } from "./codec.ts"
import { type Conversation, type ConversationItem, conversationOf, isStored, sendable } from "./conversation.ts"
import type { SessionToWrite, WriteOptions } from "./format.ts"
import type { ListFormat, WrittenMessage } from "./list-format.ts"
import { documentType, encodedRecords, recordType } from "./list-read.ts"
import { CONVERSATION_TYPES, lostAside, lostTitle } from "./lost.ts"
import { Losses } from "./losses.ts"
import { type Fields, fieldsOf, isObject, jsonOf } from "./values.ts"
import { originalOf } from "./well-formed.ts"

export async function* writeList(
  list: ListFormat,
  session: SessionToWrite,
  o: WriteOptions = {},
): AsyncIterable<string> {
  const losses = new Losses()
  const { header } = session
  const conversation = await conversationOf(session, list.contents, losses)
  const isOwn = header.origin?.format === list.format
  const imported = importedOf(list, isOwn ? conversation : undefined)
  const isApart = ({ message }: ConversationItem): boolean => list.systemIsApart === true && message.role === "system"
  const system = conversation.items.filter(isApart)
  const listed = conversation.items.filter((item) => !isApart(item))
  let segments = segmentsOf(list, listed, imported)
  // A file that was only read is written as it was, whatever an API says to it.
  if (list.contents === "context" && segments.some(({ records }) => records === undefined))
    segments = segmentsOf(list, sendable(listed, losses), imported)
  const records = [...writtenRecords(list, segments, imported, conversation, losses)]
  for (const entry of conversation.entries) if (!isOwn || readSource(entry) === undefined) countAside(entry, losses)
  if (header.title !== undefined) lostTitle(losses)
  const parts = {
    id: o.id ?? header.origin?.id ?? header.id,
    old: imported.document,
    isArray: isOwn && imported.document === undefined,
    system: isSystemOf(imported, system) ? undefined : system.map(({ message }) => message),
    restored: new Set([
      ...segments.flatMap(({ records = [] }) => records),
      ...imported.asides.map(({ record }) => record),
    ]),
    model: modelOf(conversation.items),
  }
  const document =
    list.writeDocument?.(records, parts) ??
    (imported.document === undefined ? records : { ...imported.document, [list.field]: records })
  yield `${jsonOf(document)}\n`
  losses.report(o)
}

/** Lists have messages and nothing else. */
function countAside(entry: Entry, losses: Losses): void {
  if (entry.type === "title_change") lostTitle(losses)
  else if (!CONVERSATION_TYPES.has(entry.type)) lostAside(entry, losses)
}

function modelOf(items: readonly ConversationItem[]): string | undefined {
  const models = items.flatMap(({ message }) => (message.role === "assistant" ? (message.model ?? []) : []))
  return models.at(-1)
}

/** What was read from a document of this format. */
interface Imported {
  /** By the seq of each of their entries. */
  readonly parts: ReadonlyMap<number, ImportedPart>
  readonly asides: readonly { readonly seq: number; readonly record: unknown }[]
  readonly document?: Fields
  /** Seqs of resets, each behind the first message of its record. */
  readonly resets: ReadonlySet<number>
  /** Seqs of the messages that the document has beside its list. */
  readonly system: readonly number[]
}

/** Records and the messages that they are, also those that were deleted or are on another branch. */
interface ImportedPart {
  readonly entry: Entry
  readonly seqs: number[]
}

function importedOf({ format }: ListFormat, conversation: Conversation | undefined): Imported {
  const written = new Set(conversation?.entries)
  const parts = new Map<number, ImportedPart>()
  const asides: { readonly seq: number; readonly record: unknown }[] = []
  const system: number[] = []
  const resets = new Set<number>()
  let document: Fields | undefined
  let part: ImportedPart | undefined
  for (const entry of conversation?.log ?? []) {
    const source = readSource(entry)
    if (source === undefined) continue
    const { seq } = entry
    if (entry.type === "custom" && written.has(entry)) {
      if (entry.customType === documentType(format)) document = fieldsOf(entry.data)
      else if (entry.customType === recordType(format)) asides.push({ seq, record: entry.data })
    } else if (entry.type === "reset_boundary") resets.add(seq)
    else if (entry.type === "message") {
      if (source.at.length > 0) part = { entry, seqs: [] }
      part?.seqs.push(seq)
      if (part === undefined) system.push(seq)
      else parts.set(seq, part)
    }
  }
  return { parts, asides, system, resets, ...(document === undefined ? {} : { document }) }
}

function isSystemOf({ system }: Imported, items: readonly ConversationItem[]): boolean {
  return items.length === system.length && items.every((item, i) => isStored(item) && item.entry?.seq === system[i])
}

/** Messages in order that are restored together, or written anew. */
interface Segment {
  readonly items: ConversationItem[]
  /** What they were read from, if nothing of it was changed. */
  readonly records?: readonly unknown[]
  readonly part?: ImportedPart
}

function segmentsOf(list: ListFormat, items: readonly ConversationItem[], imported: Imported): readonly Segment[] {
  const segments: Segment[] = []
  /** The record that says that the context begins here. */
  const beginOf = ({ begins = 0 }: ConversationItem) =>
    imported.resets.has(begins) ? imported.parts.get(begins - 1) : undefined
  for (let i = 0; i < items.length; ) {
    const item = items[i] as ConversationItem
    const part = item.isCopy === true ? undefined : imported.parts.get(item.entry?.seq ?? -1)
    const size = part?.seqs.length ?? 0
    const found = items.slice(i, i + size)
    const isWhole = found.length === size && found.every((one, n) => isStored(one) && one.entry?.seq === part?.seqs[n])
    const before = segments.at(-1)
    const first = found.find(({ begins }) => begins !== undefined)
    const begin = first === undefined ? undefined : beginOf(first)
    // No other record says it.
    const isSaid = first === undefined || (begin !== undefined && (begin === part || begin === before?.part))
    if (part !== undefined && isWhole && isSaid) {
      const records = recordsOf(readSource(part.entry) ?? { at: [] }, encodedRecords(list, originalOf(part.entry)))
      segments.push({ items: found, records: records.map(({ record }) => record), part })
      i += size
      continue
    }
    i++
    if (before !== undefined && before.records === undefined) before.items.push(item)
    else segments.push({ items: [item] })
  }
  return segments
}

function* writtenRecords(
  list: ListFormat,
  segments: readonly Segment[],
  { asides }: Imported,
  { boundary }: Conversation,
  losses: Losses,
): Generator<unknown, void, undefined> {
  const waiting = asides.filter(({ seq }) => seq > boundary)
  const ids = list.calls === undefined ? undefined : new CallIds(list.calls)
  const isKept = (i: number): boolean => {
    const { items, records } = segments[i] as Segment
    return records !== undefined && !isContinued(list, items, segments[i + 1])
  }
  // Those of the records that stay as they are come first: no other call may have their ids.
  for (const [i, { items }] of segments.entries()) if (isKept(i)) for (const id of callsOf(items)) ids?.saw(id)
  const written = (item: ConversationItem): WrittenMessage => {
    const message = writtenMessage(item)
    return ids === undefined ? message : { ...message, message: fitted(message.message, ids, losses) }
  }
  for (const [i, { items, records }] of segments.entries()) {
    const seq = items[0]?.entry?.seq ?? 0
    while (waiting[0] !== undefined && waiting[0].seq < seq) yield waiting.shift()?.record
    if (records !== undefined && isKept(i)) yield* records
    else if (records === undefined) {
      const before = segments[i - 1]
      const isJoined = before?.records !== undefined && isContinued(list, before.items, segments[i])
      const base: unknown = isJoined ? before.records?.at(-1) : undefined
      const all = isJoined ? [...before.items, ...items] : items
      yield* list.write(all.map(written), losses, isObject(base) ? base : undefined)
    }
  }
  for (const { record } of waiting) yield record
}

/** Whether the messages that follow a record belong into it. */
function isContinued({ joins }: ListFormat, items: readonly ConversationItem[], next: Segment | undefined): boolean {
  const first = next?.records === undefined ? next?.items[0] : undefined
  if (first === undefined || joins === undefined || first.begins !== undefined) return false
  const before = items.map(({ message }) => message)
  return joins(before, first.message)
}

function callsOf(items: readonly ConversationItem[]): readonly string[] {
  const blocks = items.flatMap(({ message }) => message.content)
  return blocks.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
}

function writtenMessage({ entry, entryId, message, begins, isCopy }: ConversationItem): WrittenMessage {
  const { type = "message", timestamp = new Date(0).toISOString() } = entry ?? {}
  return {
    id: entryId,
    type,
    timestamp,
    message,
    ...(begins === undefined ? {} : { begins: true }),
    ...(isCopy && { isCopy }),
  }
}
