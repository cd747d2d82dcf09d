/**
 * Writes a session as a chat of Gemini CLI. A session that came from such a chat gets its own lines back, followed by messages appended
 * since. If it was edited, or continues at an earlier message, the file has the messages of its context. They are held in memory.
 */
import type { Entry, Header } from "@sessions/core"
import { buildSessionContext, toModelMessages } from "@sessions/core/context"
import { sha256Hex } from "@sessions/core/storage"
import { readSource } from "../base/codec.ts"
import type { SessionToWrite, WriteOptions } from "../base/format.ts"
import { uuidOf } from "../base/ids.ts"
import { CONVERSATION_TYPES, lostAside } from "../base/lost.ts"
import { Losses } from "../base/losses.ts"
import { modelMessagesOf } from "../base/model-messages.ts"
import { canRestore, importedLines, titleOf } from "../base/restored-lines.ts"
import { type Fields, isObject } from "../base/values.ts"
import { lineOf, orderedLines } from "../base/written-lines.ts"
import { indexLog, type LogIndex } from "../base/written-path.ts"
import { encode, FORMAT } from "./codec.ts"
import { type GeminiRecord, RecordWriter } from "./written-records.ts"

export async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const { header } = session
  const index = await indexLog(session)
  const entries: Entry[] = []
  for await (const entry of session.entries()) entries.push(entry)
  const losses = new Losses()
  const isOwn = header.origin?.format === FORMAT
  const restores = isOwn && canRestore(entries, index, o)
  const appended = entries.filter((entry) => !isOwn || readSource(entry) === undefined)
  if (!restores)
    losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  const records = new RecordWriter(losses, restores ? openCallsOf(entries) : [])
  if (restores) yield* restored(entries, await changesOf(o))
  else yield lineOf(await headerLine(header, entries.at(-1)?.timestamp ?? header.timestamp, o, isOwn))
  const messages = restores ? appendedRecords(appended, index, records) : contextRecords(entries, records, losses)
  for (const record of messages) yield lineOf(record)
  const title = titleOf(restores ? appended : entries, index)
  if (title !== undefined) yield lineOf({ $set: { summary: title } })
  countAside(appended, index, losses)
  losses.report(o)
}

/** The ids of the calls of imported entries that have no result there. */
function openCallsOf(entries: readonly Entry[]): ReadonlySet<string> {
  const open = new Set<string>()
  for (const entry of entries) {
    if (entry.type !== "message" || readSource(entry) === undefined) continue
    const { message } = entry
    if (message.role === "toolResult") open.delete(message.toolCallId)
    else for (const block of message.content ?? []) if (block.type === "toolCall") open.add(block.id)
  }
  return open
}

function* restored(entries: readonly Entry[], changes: Fields = {}): Generator<string, void, undefined> {
  const lines = importedLines(entries, encode).map(({ at, record }) => ({ at, record: placed(record, changes) }))
  yield* orderedLines(lines, () => false, undefined)
}

/** A chat that was resumed says of which session it is in several lines, and Gemini CLI takes the last one: all get the changes. */
function placed(record: unknown, changes: Fields): unknown {
  if (!isObject(record)) return record
  const own = changed(record, changes)
  const { $set: set } = own
  return isObject(set) ? { ...own, $set: changed(set, changes) } : own
}

function changed(fields: Fields, changes: Fields): Fields {
  return { ...fields, ...Object.fromEntries(Object.entries(changes).filter(([name]) => name in fields)) }
}

/** Undefined: the lines stay as they were. */
async function changesOf({ id, cwd }: WriteOptions): Promise<Fields | undefined> {
  if (id === undefined && cwd === undefined) return undefined
  return {
    ...(id === undefined ? {} : { sessionId: id }),
    ...(cwd === undefined ? {} : { projectHash: await sha256Hex(cwd) }),
  }
}

async function headerLine(
  { id, timestamp, cwd, kind, origin }: Header,
  lastUpdated: string,
  o: WriteOptions,
  isOwn: boolean,
): Promise<Fields> {
  return {
    sessionId: o.id ?? (isOwn ? origin?.id : undefined) ?? (await uuidOf(id)),
    // As `getProjectHash` of Gemini CLI.
    projectHash: await sha256Hex(o.cwd ?? cwd ?? "/"),
    startTime: timestamp,
    // Gemini CLI deletes chats by this time.
    lastUpdated,
    kind: kind === "subagent" ? "subagent" : "main",
  }
}

function appendedRecords(entries: readonly Entry[], index: LogIndex, records: RecordWriter): readonly GeminiRecord[] {
  return entries.flatMap((entry) =>
    index.isWritten(entry.seq)
      ? modelMessagesOf(entry).flatMap((message) => records.of(message, entry.id, entry.timestamp) ?? [])
      : [],
  )
}

function contextRecords(entries: readonly Entry[], records: RecordWriter, losses: Losses): readonly GeminiRecord[] {
  const times = new Map(entries.map(({ id, timestamp }) => [id, timestamp]))
  const context = buildSessionContext(entries)
  const { messages } = toModelMessages(context.messages)
  if (context.compaction !== undefined)
    losses.add("history", 1, () => "What a compaction summarizes is in the file as the summary only.")
  return messages.flatMap(
    ({ entryId, message }) => records.of(message, entryId, times.get(entryId) ?? new Date(0).toISOString()) ?? [],
  )
}

function countAside(appended: readonly Entry[], index: LogIndex, losses: Losses): void {
  for (const entry of appended) if (index.isWritten(entry.seq) && !WRITTEN.has(entry.type)) lostAside(entry, losses)
}

const WRITTEN: ReadonlySet<string> = new Set([...CONVERSATION_TYPES, "title_change"])
