/**
 * Writes a session as the events of Copilot. A session that came from such a file gets its own events back, followed by those of messages
 * appended since. If it was edited, or continues at an earlier event, the file has the messages of the current path. They are held in memory.
 */
import type { Entry, Header, ModelMessage } from "@sessions/core"
import { readSource } from "../base/codec.ts"
import type { SessionToWrite, WriteOptions } from "../base/format.ts"
import { uuidOf } from "../base/ids.ts"
import { CONVERSATION_TYPES, lostAside, lostResult } from "../base/lost.ts"
import { Losses } from "../base/losses.ts"
import { modelMessagesOf } from "../base/model-messages.ts"
import { canRestore, importedLines, titleOf } from "../base/restored-lines.ts"
import { type Fields, fieldsOf, stringOf } from "../base/values.ts"
import { lineOf, orderedLines } from "../base/written-lines.ts"
import { indexLog, type LogIndex } from "../base/written-path.ts"
import { encode, FORMAT } from "./codec.ts"
import { eventOfMessage, type EventParts } from "./written-messages.ts"

export async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const { header } = session
  const index = await indexLog(session)
  const entries: Entry[] = []
  for await (const entry of session.entries()) entries.push(entry)
  const losses = new Losses()
  const isOwn = header.origin?.format === FORMAT
  const restores = isOwn && canRestore(entries, index, o)
  const isFresh = (entry: Entry): boolean => !restores || readSource(entry) === undefined
  if (!restores)
    losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  const events = new Events()
  if (restores) yield* restored(entries, o, events)
  else yield await events.line(startOf(header, await idOf(header, o, isOwn), o), `${header.id}/start`, header.timestamp)
  const fresh = entries.filter((entry) => isFresh(entry) && index.isWritten(entry.seq))
  const calls = callsOf(
    entries.filter(({ seq }) => index.isWritten(seq) && index.isOnPath(seq) && index.editOf(seq) === undefined),
  )
  for (const { entry, parts } of eventsOf(fresh, index, calls, losses))
    for (const [i, part] of parts.entries())
      yield await events.line(part, `${entry.id}/${part.type}/${i}`, entry.timestamp)
  const title = titleOf(fresh, index)
  const last = entries.at(-1)
  if (title !== undefined && last !== undefined)
    yield await events.line({ type: "session.title_changed", data: { title } }, `${last.id}/title`, last.timestamp)
  for (const entry of fresh)
    if (!WRITTEN.has(entry.type) && (!isOwn || readSource(entry) === undefined)) lostAside(entry, losses)
  losses.report(o)
}

/** Copilot refuses a file with an event whose id is no UUID. Each event names the one before it. */
class Events {
  #last: string | null = null

  follow(id: unknown): void {
    this.#last = stringOf(id) ?? this.#last
  }

  async line({ type, data }: EventParts, name: string, timestamp: string): Promise<string> {
    const id = await uuidOf(name)
    const parentId = this.#last
    this.#last = id
    // Copilot refuses an answer without an id of its own.
    const own = type === "assistant.message" ? { messageId: id, ...data } : data
    return lineOf({ type, data: own, id, timestamp, parentId })
  }
}

function* restored(entries: readonly Entry[], o: WriteOptions, events: Events): Generator<string, void, undefined> {
  const lines = importedLines(entries, encode)
  for (const { record } of lines.toSorted((a, b) => a.at - b.at)) events.follow(fieldsOf(record)["id"])
  const { id, cwd } = o
  const changed = (start: Fields): Fields => {
    const data = fieldsOf(start["data"])
    const context = cwd === undefined ? {} : { context: { ...fieldsOf(data["context"]), cwd } }
    return { ...start, data: { ...data, ...(id === undefined ? {} : { sessionId: id }), ...context } }
  }
  const isChanged = id !== undefined || cwd !== undefined
  yield* orderedLines(lines, ({ type }) => type === "session.start", isChanged ? changed : undefined)
}

async function idOf({ id, origin }: Header, o: WriteOptions, isOwn: boolean): Promise<string> {
  return o.id ?? (isOwn ? origin?.id : undefined) ?? (await uuidOf(id))
}

/** The version is one whose events these are: Copilot does not read a file without one. */
function startOf({ timestamp, cwd }: Header, sessionId: string, o: WriteOptions): EventParts {
  const context = { cwd: o.cwd ?? cwd ?? "/" }
  const made = { version: 1, producer: "sessions", copilotVersion: "1.0.102" }
  return { type: "session.start", data: { sessionId, ...made, startTime: timestamp, context } }
}

/** The events of entries on the current path. A compaction begins before the first message that it keeps. */
function* eventsOf(
  entries: readonly Entry[],
  index: LogIndex,
  calls: ReadonlySet<string>,
  losses: Losses,
): Generator<{ readonly entry: Entry; readonly parts: readonly EventParts[] }, void, undefined> {
  const path = entries.filter(({ seq }) => index.isOnPath(seq))
  const starts = startsOf(path, index, losses)
  let messages = 0
  for (const entry of path) {
    if (SHOWN.has(entry.type)) messages++
    if (entry.type === "reset_boundary") {
      yield { entry, parts: [{ type: "session.context_cleared", data: { messagesCleared: messages } }] }
      messages = 0
      continue
    }
    const start: readonly EventParts[] = starts.has(entry.seq) ? [{ type: "session.compaction_start", data: {} }] : []
    yield { entry, parts: [...start, ...partsOf(entry, index, calls, losses)] }
  }
}

/** The ids of the calls of these entries, edited ones excepted: an edit has no calls. */
function callsOf(entries: readonly Entry[]): ReadonlySet<string> {
  const contents = entries.flatMap((entry) => (entry.type === "message" ? (entry.message.content ?? []) : []))
  return new Set(contents.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])))
}

/** The seqs of the entries before which a compaction begins. */
function startsOf(path: readonly Entry[], index: LogIndex, losses: Losses): ReadonlySet<number> {
  const starts = new Set<number>()
  let before = 0
  for (const { type, seq, id, ...entry } of path) {
    if (type !== "compaction") continue
    const named = entry["firstKeptEntryId"]
    const found = named === id || typeof named !== "string" ? undefined : index.find(named, seq)
    // A context keeps nothing if the entry is on another branch.
    const wanted = found !== undefined && index.isOnPath(found) ? found : undefined
    // A summary of Copilot replaces all before its beginning, another summary as well.
    const first = path.find((one) => one.seq > before && one.seq >= (wanted ?? seq))?.seq ?? seq
    const lost = path.filter((one) => SHOWN.has(one.type) && one.seq >= (wanted ?? seq) && one.seq < first)
    losses.add(
      "kept",
      lost.length,
      (n) => `${n} messages that two compactions keep are in the file before the second one only.`,
    )
    starts.add(first)
    before = seq
  }
  return starts
}

function partsOf(entry: Entry, index: LogIndex, calls: ReadonlySet<string>, losses: Losses): readonly EventParts[] {
  if (entry.type === "compaction") {
    const { summary, tokensBefore } = entry
    const data = { success: true, summaryContent: summary, preCompactionTokens: tokensBefore }
    return [{ type: "session.compaction_complete", data }]
  }
  const edit = index.editOf(entry.seq)
  if (edit?.content === null) return []
  const messages: readonly ModelMessage[] = modelMessagesOf(entry, edit?.content)
  if (edit !== undefined)
    losses.add("edits", messages.length, (n) => `${n} messages are written with their edited contents only.`)
  return messages.flatMap((message) => {
    if (message.role !== "toolResult" || calls.has(message.toolCallId)) return eventOfMessage(message, losses) ?? []
    lostResult(losses)
    return []
  })
}

/** Entries that are messages of a context. */
const SHOWN: ReadonlySet<string> = new Set(["message", "custom_message", "branch_summary"])

const WRITTEN: ReadonlySet<string> = new Set([...CONVERSATION_TYPES, "title_change"])
