/**
 * Writes a session as a rollout. A session that came from Codex gets its own lines back, followed by entries appended since. A rollout has
 * no branches: if the session continues at an earlier entry, or was edited, only the current path is written. A compaction is written as
 * `compacted` with the exact items that follow from it.
 */
import type { ContentBlock, Entry, Header, Message, ModelMessage } from "@sessions/core"
import { CallIds, fitted, RESPONSES_CALLS } from "../base/call-ids.ts"
import { readSource, recordsOf, type Source } from "../base/codec.ts"
import type { SessionToWrite, WriteOptions } from "../base/format.ts"
import { UNREADABLE } from "../base/json-lines.ts"
import { modelMessagesOf } from "../base/model-messages.ts"
import { CONVERSATION_TYPES, lostAside, lostError } from "../base/lost.ts"
import { lostHistoryOf } from "../base/lost-history.ts"
import { Losses } from "../base/losses.ts"
import { type Fields, fieldsOf, isObject, jsonOf, numberOf, stringOf, wellFormedJson } from "../base/values.ts"
import { originalOf, SURROGATES } from "../base/well-formed.ts"
import { lineOf, orderedLines, type PlacedRecord } from "../base/written-lines.ts"
import { indexLog, type LogIndex } from "../base/written-path.ts"
import { acceptableLines, PROGRAM } from "./acceptable.ts"
import { encode, FORMAT, ITEM } from "./codec.ts"
import { isWritable, itemsOfMessage } from "./items.ts"
import { codexIdOf } from "./place.ts"

export async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const { header } = session
  const index = await indexLog(session)
  const isOwn = header.origin?.format === FORMAT
  const { isEdited, continues, keeps } = await stateOf(session, index)
  const all = isOwn && o.branches !== "path" && !isEdited && continues
  const losses = new Losses()
  if (!all) losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  const writer = new RolloutWriter(index, losses, { isOwn, restores: isOwn && !isEdited, all, keeps })
  const id = o.id ?? (await codexIdOf(header))
  const cwd = o.cwd ?? header.cwd ?? "/"
  const lines: Written[] = isOwn ? [] : [{ at: 0, record: metaOf(header, id, cwd) }]
  for await (const entry of session.entries()) {
    if (
      isOwn &&
      o.id !== undefined &&
      index.isWritten(entry.seq) &&
      lostHistoryOf(entry) !== undefined &&
      isMissing(entry)
    )
      lostAside(entry, losses)
    // The history that a fork has in another file is in one that is resumed, and in no copy of its own.
    lines.push(...writer.linesOf(entry).filter(({ at }) => at > 0 || !isOwn || o.id !== undefined))
    // Lines of a file keep their order: a reasoning comes with its item, but may have been before other lines.
    if (!isOwn) for (const { record } of lines.splice(0)) yield lineOf(record)
  }
  const changes = {
    ...(o.id === undefined ? {} : { id, session_id: id }),
    ...(o.cwd === undefined ? {} : { cwd: o.cwd }),
  }
  const ordinals = new Ordinals()
  // What the agent refuses is not written for it to resume; a file that is only copied has its lines as they are.
  const acceptable = o.id === undefined || !isOwn ? lines : acceptableLines(lines, cwd, losses)
  const numbered = acceptable
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, record, isNew }) => {
      const numbered = ordinals.of(record, isNew === true)
      return { at, record: isNew === true ? wellFormed(numbered, losses) : numbered }
    })
  yield* orderedLines(
    numbered,
    ({ type }) => type === "session_meta",
    o.id === undefined && o.cwd === undefined
      ? undefined
      : (meta) => ({ ...meta, payload: { ...withoutBase(fieldsOf(meta["payload"]), o.id), ...changes } }),
  )
  losses.report(o)
}

/** The file of a fork that is resumed has its whole history: Codex refuses one whose base it does not find. */
function withoutBase(payload: Fields, id: string | undefined): Fields {
  if (id === undefined) return payload
  const { history_base: _, forked_from_ordinal_exclusive: __, ...rest } = payload
  return rest
}

/** Whether the entry says that another file was not found, not that the file's own history is encrypted. */
function isMissing(entry: Entry): boolean {
  return lostHistoryOf(entry)?.includes("was not found") === true
}

/** Codex goes on without a line that has half of a surrogate pair. In a session of its own the ids are as in its file. */
function wellFormed(record: unknown, losses: Losses): unknown {
  const text = jsonOf(record)
  const wellFormed = wellFormedJson(text)
  if (wellFormed === text) return record
  losses.add(SURROGATES, 1, (n) => `${n} lines have U+FFFD in place of half of a surrogate pair.`)
  return JSON.parse(wellFormed)
}

/** `at` may be {@link APPENDED}. */
interface Written extends PlacedRecord {
  /** It is no line of the file that the session came from. */
  readonly isNew?: true
}

/** Numbers new lines as the lines before them: Codex refuses a file whose last line has no number although others have one. */
class Ordinals {
  #last: number | undefined

  of(record: unknown, isNew: boolean): unknown {
    if (!isObject(record)) return record
    const ordinal = numberOf(record["ordinal"])
    if (ordinal !== undefined) this.#last = Math.max(ordinal, this.#last ?? 0)
    if (!isNew || ordinal !== undefined || this.#last === undefined) return record
    return { ...record, ordinal: ++this.#last }
  }
}

/** After all lines of the file. */
const APPENDED = Number.MAX_SAFE_INTEGER

function metaOf({ timestamp }: Header, id: string, cwd: string): Fields {
  return { timestamp, type: "session_meta", payload: { id, timestamp, cwd, ...PROGRAM, source: "cli" } }
}

interface LogState {
  /** Entries were deleted or edited. */
  readonly isEdited: boolean
  /** The current path goes on from the end of the file that the session came from. */
  readonly continues: boolean
  readonly keeps: readonly Keep[]
}

/** A compaction of the path. */
interface Keep {
  readonly seq: number
  /** The first entry that it or a later one keeps; infinity: none. */
  readonly from: number
}

async function stateOf(session: SessionToWrite, index: LogIndex): Promise<LogState> {
  let isEdited = false
  const keeps: { readonly seq: number; from: number }[] = []
  let last: Entry | undefined
  for await (const entry of session.entries()) {
    if (index.isDeleted(entry.seq) || index.editOf(entry.seq) !== undefined) isEdited = true
    if (readSource(entry) !== undefined) last = entry
    if (entry.type === "compaction" && index.isWritten(entry.seq))
      keeps.push({ seq: entry.seq, from: firstKeptBy(entry, index) })
  }
  let from = Number.POSITIVE_INFINITY
  for (const keep of keeps.toReversed()) keep.from = from = Math.min(from, keep.from)
  return { isEdited, continues: last === undefined || index.isWritten(last.seq), keeps }
}

/** Infinity: it keeps none. */
function firstKeptBy({ id, firstKeptEntryId, seq }: Entry & { readonly type: "compaction" }, index: LogIndex): number {
  const first = firstKeptEntryId === id ? undefined : index.find(firstKeptEntryId, seq)
  // On another branch: core keeps nothing then.
  return first !== undefined && index.isOnPath(first) ? first : Number.POSITIVE_INFINITY
}

interface PathPart {
  readonly seq: number
  readonly items: readonly Fields[]
}

class RolloutWriter {
  readonly #index: LogIndex
  readonly #losses: Losses
  readonly #isOwn: boolean
  readonly #restores: boolean
  readonly #all: boolean
  /** Numbers of the lines that are written: all entries of a compaction name its line. */
  readonly #done = new Set<number>()
  readonly #keeps: readonly Keep[]
  readonly #calls = new CallIds(RESPONSES_CALLS)
  /** How many of {@link #keeps} are before the current entry. */
  #passed = 0
  /** The messages of the path that a later compaction keeps, whatever an earlier one kept: it repeats them. */
  #parts: PathPart[] = []

  constructor(
    index: LogIndex,
    losses: Losses,
    o: { readonly isOwn: boolean; readonly restores: boolean; readonly all: boolean; readonly keeps: readonly Keep[] },
  ) {
    this.#index = index
    this.#losses = losses
    this.#isOwn = o.isOwn
    this.#restores = o.restores
    this.#all = o.all
    this.#keeps = o.keeps
  }

  linesOf(entry: Entry): readonly Written[] {
    const source = this.#isOwn ? readSource(entry) : undefined
    const isOnPath = this.#index.isWritten(entry.seq)
    if (!isOnPath && !(this.#all && source !== undefined)) return []
    if (isOnPath && source === undefined) this.#countAside(entry)
    const items = isOnPath ? this.#itemsOf(entry, source) : []
    if (items.length > 0 && entry.type !== "compaction") this.#keep({ seq: entry.seq, items })
    if (source !== undefined && this.#restores) return this.#restored(entry, source)
    const at = source?.at[0] ?? APPENDED
    return this.#encoded(entry, items).map((record) => ({ at, record, isNew: true }))
  }

  #countAside(entry: Entry): void {
    if (entry.type === "title_change")
      this.#losses.add("titles", 1, (n) => `${n} titles are not in the file: Codex keeps them elsewhere.`)
    else if (!CONVERSATION_TYPES.has(entry.type)) lostAside(entry, this.#losses)
  }

  #restored(entry: Entry, source: Source): readonly Written[] {
    // A file of the current path alone does not have the turns that a rollback takes back.
    if (entry.type === "leaf" && !this.#all) return []
    if (lostHistoryOf(entry) !== undefined) return []
    const at = source.at[0] ?? APPENDED
    const lines =
      entry.type === "custom" ? [{ at, record: recordOf(entry) }] : recordsOf(source, encode(originalOf(entry)))
    const missing = lines.filter((line) => !this.#done.has(line.at))
    for (const line of missing) this.#done.add(line.at)
    return missing
  }

  #encoded(entry: Entry, items: readonly Fields[]): readonly Fields[] {
    const line = (type: string, payload: Fields): Fields => ({ timestamp: entry.timestamp, type, payload })
    if (entry.type === "compaction" || entry.type === "reset_boundary") {
      const kept = entry.type === "compaction" ? this.#keptBy(entry) : []
      return [line("compacted", { message: "", replacement_history: [...items, ...kept] })]
    }
    // Other lines of the file may repeat a text that was deleted.
    if (entry.type === "custom" && entry.customType === `${FORMAT}/session_meta`) return [fieldsOf(entry.data)]
    return [
      ...items.map((item) => line("response_item", item)),
      ...eventsOf(entry, items).map((event) => line("event_msg", event)),
    ]
  }

  #keep(part: PathPart): void {
    const before = this.#passed
    while ((this.#keeps[this.#passed]?.seq ?? Number.POSITIVE_INFINITY) < part.seq) this.#passed++
    const from = this.#keeps[this.#passed]?.from ?? Number.POSITIVE_INFINITY
    if (this.#passed > before) this.#parts = this.#parts.filter(({ seq }) => seq >= from)
    if (part.seq >= from) this.#parts.push(part)
  }

  #keptBy(compaction: Entry & { readonly type: "compaction" }): readonly Fields[] {
    const first = firstKeptBy(compaction, this.#index)
    return this.#parts.filter(({ seq }) => seq >= first).flatMap(({ items }) => items)
  }

  /** The items of an entry alone: those that it was read from, if it was not edited. */
  #itemsOf(entry: Entry, source: Source | undefined): readonly Fields[] {
    if (entry.type === "custom") {
      if (!this.#isOwn) return []
      if (entry.customType === ITEM) return [fieldsOf(entry.data)]
      return entry.customType === `${FORMAT}/response_item` ? [fieldsOf(fieldsOf(entry.data)["payload"])] : []
    }
    const edit = this.#index.editOf(entry.seq)
    if (entry.type === "message" && source !== undefined && edit === undefined) {
      for (const block of entry.message.content ?? []) if (block.type === "toolCall") this.#calls.saw(block.id)
      return recordsOf(source, encode(originalOf(entry))).map(({ record }) => fieldsOf(fieldsOf(record)["payload"]))
    }
    const messages = modelMessagesOf(this.#withSystem(entry), edit?.content ?? undefined)
    if (edit !== undefined)
      this.#losses.add("edits", messages.length, (n) => `${n} messages are written with their edited contents only.`)
    return edit?.content === null ? [] : messages.flatMap((message) => this.#itemsOfMessage(message))
  }

  /** A compaction with the system messages that it repeats as they are now: they may have been edited or deleted since. */
  #withSystem(entry: Entry): Entry {
    if (entry.type !== "compaction" || entry.system === undefined) return entry
    const system = entry.system.flatMap((carried) => {
      const seq = this.#index.find(carried.id, entry.seq)
      if (seq === undefined) return [carried]
      const content = this.#index.editOf(seq)?.content
      if (content === null || this.#index.isDeleted(seq)) return []
      return [content === undefined ? carried : { ...carried, message: { ...carried.message, content } }]
    })
    return { ...entry, system }
  }

  #itemsOfMessage(message: Message): readonly Fields[] {
    const { content = [], attachments = [] } = message
    if (message.role === "toolResult") lostError(message, this.#losses)
    const count = (what: string, blocks: readonly unknown[], name: string): void =>
      this.#losses.add(what, blocks.length, (n) => `${n} ${name} are not in the file.`)
    const isThinking = ({ type }: ContentBlock): boolean => type === "thinking"
    // Codex sends back encrypted reasoning of its own provider; nothing else of it reaches a model.
    count("thinking", content.filter(isThinking), "blocks of thinking")
    count(
      "blocks",
      content.filter((block) => !isWritable(block)),
      "blocks of other types",
    )
    count("attachments", attachments, "attachments")
    return itemsOfMessage(
      fitted({ ...message, content: content.filter(isWritable) } as ModelMessage, this.#calls, this.#losses) as Fields,
      {
        withThinking: false,
      },
    )
  }
}

/** What Codex shows people: without the event of a user's message a session is not in its list. */
function eventsOf(entry: Entry, items: readonly Fields[]): readonly Fields[] {
  if (entry.type !== "message" || entry.message.synthetic === true) return []
  const parts = items.flatMap((item) => (item["type"] === "message" ? (item["content"] as readonly Fields[]) : []))
  const message = parts.flatMap(({ text }) => stringOf(text) ?? []).join("\n")
  if (message === "") return []
  if (entry.message.role === "assistant") return [{ type: "agent_message", message }]
  return entry.message.role === "user" ? [{ type: "user_message", message, images: [] }] : []
}

function recordOf({ customType, data }: Entry & { readonly type: "custom" }): unknown {
  return customType === UNREADABLE ? fieldsOf(data)["text"] : data
}
