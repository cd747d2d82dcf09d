/**
 * Writes a session as a file that Claude Code resumes. Entries that were imported from such a file are restored as their lines; others are
 * encoded, and follow them. `docs/formats.md` has the table, with what the file does not hold.
 */
import type { AssistantMessage, ContentBlock, Entry, ToolResultMessage, UserMessage } from "@sessions/core"
import { patched, readSource, recordsOf, type Source } from "../base/codec.ts"
import type { SessionToWrite, WriteOptions } from "../base/format.ts"
import { uuidOf } from "../base/ids.ts"
import { UNREADABLE } from "../base/json-lines.ts"
import { LineOrder } from "../base/line-order.ts"
import { lostAside } from "../base/lost.ts"
import { Losses } from "../base/losses.ts"
import { type Fields, fieldsOf, isObject, stringOf } from "../base/values.ts"
import { originalOf } from "../base/well-formed.ts"
import { lineOf } from "../base/written-lines.ts"
import { indexLog, type LogIndex } from "../base/written-path.ts"
import {
  asideLine,
  assistantLine,
  compactionLines,
  endLine,
  type Hint,
  type LineContext,
  relocatedLine,
  REPEATED_FIELDS,
  startLine,
  titleLine,
  userLine,
} from "./encode.ts"
import { EntryLines } from "./entry-lines.ts"
import { FreshLines } from "./fresh.ts"
import { DUPLICATE, FORMAT_NAME, isLeaf } from "./lines.ts"
import { NativeUuids } from "./native-uuids.ts"

/** The version whose files this writer was compared with; its lines name a version. */
const WRITTEN_VERSION = "2.1.330"

export async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const isNative = session.header.origin?.format === FORMAT_NAME
  const branches = o.branches ?? (isNative ? "all" : "path")
  const index = await indexLog(session)
  const losses = new Losses()
  if (branches === "path") {
    losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  }
  const fresh = new FreshLines(losses, isNative ? new Set() : await answeredCalls(session, index))
  const writer = new Writer(session, index, losses, await repeatedOf(session, isNative, o), isNative, fresh)
  const order = new LineOrder(isNative ? index.linesOf(branches) : [])
  for await (const entry of session.entries()) {
    const isWritten = branches === "all" ? !index.isDeleted(entry.seq) : index.isWritten(entry.seq)
    let text = ""
    for (const { at, line } of await writer.take(entry, isWritten)) {
      text += at === undefined ? order.rest() + line : order.take(at, line)
    }
    if (text !== "") yield text
  }
  const end = order.rest() + (await writer.end())
  if (end !== "") yield end
  losses.report(o)
}

/** The ids of the calls that have a result in the file. */
async function answeredCalls(session: SessionToWrite, index: LogIndex): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for await (const entry of session.entries()) {
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue
    if (index.isWritten(entry.seq) && index.editOf(entry.seq)?.content !== null) ids.add(entry.message.toolCallId)
  }
  return ids
}

async function repeatedOf({ header }: SessionToWrite, isNative: boolean, o: WriteOptions): Promise<Fields> {
  const own = isNative ? fieldsOf(fieldsOf(header.origin)["repeated"]) : {}
  const { agentId: _, ...main } = own
  const isRenamed = o.id !== undefined && o.id !== own["sessionId"]
  // A value of the file is its own, whatever it is.
  const given = (value: string | undefined, name: string, made: string): unknown =>
    value ?? (Object.hasOwn(own, name) ? own[name] : made)
  const cwd = given(o.cwd, "cwd", header.cwd ?? "/")
  const sessionId = given(o.id, "sessionId", await uuidOf(header.id))
  const made = isNative ? {} : { isSidechain: false, userType: "external", entrypoint: "cli", version: WRITTEN_VERSION }
  // The file of a subagent becomes a session of its own.
  const kept = isRenamed ? { ...main, isSidechain: false } : own
  const hasCwd = !isNative || Object.hasOwn(own, "cwd") || o.cwd !== undefined
  const hasId = !isNative || Object.hasOwn(own, "sessionId") || o.id !== undefined
  return { ...made, ...kept, ...(hasCwd ? { cwd } : {}), ...(hasId ? { sessionId } : {}) }
}

/** Fields that say where a line is. */
const PLACE_FIELDS = [...REPEATED_FIELDS, "uuid", "parentUuid", "timestamp", "sourceToolAssistantUUID"] as const

interface Line {
  /** The number of the line in the file that was imported; undefined for a line that follows them. */
  readonly at: number | undefined
  readonly line: string
}

/** The entries that were made of one line. */
interface Parts {
  readonly first: Entry
  readonly source: Source
  readonly entries: Entry[]
}

class Writer {
  readonly #index: LogIndex
  readonly #losses: Losses
  readonly #repeated: Fields
  readonly #isNative: boolean
  /** The id of the session in the file that was imported. */
  readonly #sourceId: unknown
  readonly #fresh: FreshLines
  readonly #natives = new NativeUuids()
  readonly #lines: EntryLines
  /** Those of the lines of the source that are not in the file, or not as they were. */
  readonly #changed = new Set<unknown>()
  /** Those of all lines. */
  readonly #uuids = new Set<unknown>()
  #parts: Parts | undefined
  #hasAppended = false
  /** The line in which the conversation of the file ends, and the last one of the session's path. */
  #last: { readonly at: number; readonly isOnPath: boolean } = { at: -1, isOnPath: true }
  /** The last line of the session's path. */
  #leaf: Fields | undefined
  /** Of the last entry. */
  #time = ""

  constructor(
    { header }: SessionToWrite,
    index: LogIndex,
    losses: Losses,
    repeated: Fields,
    isNative: boolean,
    fresh: FreshLines,
  ) {
    this.#sourceId = fieldsOf(fieldsOf(header.origin)["repeated"])["sessionId"]
    this.#index = index
    this.#lines = new EntryLines(index)
    this.#losses = losses
    this.#repeated = repeated
    this.#isNative = isNative
    this.#fresh = fresh
  }

  async take(entry: Entry, isWritten: boolean): Promise<readonly Line[]> {
    this.#time = entry.timestamp
    const source = this.#isNative ? readSource(entry) : undefined
    const lines =
      source === undefined ? await this.#appended(entry, isWritten) : await this.#imported(entry, source, isWritten)
    return lines
  }

  /**
   * A line below the leaf, if the file ends in another branch: Claude Code goes on at the last line that no other continues, so a copy of the
   * leaf's line would not do. If the session begins anew at its end, a message without a parent: any other line would not end the conversation.
   */
  async end(): Promise<string> {
    const leaf = this.#leaf
    if (!this.#hasAppended || this.#uuids.size === 0) return ""
    const { leafId } = this.#index
    if (this.#natives.of(leafId) === null) {
      const id = await uuidOf(`${leafId ?? "root"}/start`)
      return lineOf(startLine({ id, timestamp: this.#time }, this.#repeated))
    }
    if (this.#last.isOnPath || leaf === undefined) return ""
    const uuid = await uuidOf(`${String(leaf["uuid"])}/end`)
    return lineOf(endLine(uuid, leaf, this.#repeated))
  }

  async #imported(entry: Entry, source: Source, isWritten: boolean): Promise<readonly Line[]> {
    const hint = (source.hint ?? {}) as Hint
    if (hint.part !== undefined && this.#parts !== undefined) return this.#part(this.#parts, entry, isWritten)
    if (hint.parts !== undefined) {
      this.#parts = { first: entry, source, entries: isWritten ? [entry] : [] }
      this.#natives.set(entry, this.#lineOfParts(this.#parts)["uuid"])
      return this.#emit(entry, [])
    }
    const records = this.#restored(originalOf(entry), source, hint)
    const edit = this.#editOf(entry)
    if (!isWritten || edit !== undefined) for (const { record } of records) this.#changed.add(record["uuid"])
    if (!isWritten || this.#repeatsChanged(entry)) {
      this.#natives.set(entry, undefined)
      return this.#emit(entry, [])
    }
    if (edit === undefined) {
      this.#natives.set(entry, records.at(-1)?.record["uuid"])
      return this.#emit(
        entry,
        records.map(({ at, record }) => ({ at, record: this.#withParent(entry, record) })),
      )
    }
    return this.#edited(entry, source.at[0], edit.content, records[0]?.record)
  }

  /** A line whose parent is not in the file any more continues the line before that one: readers may begin behind a missing parent. */
  #withParent({ parentId }: Entry, record: Fields): Fields {
    const { parentUuid } = record
    if (!this.#changed.has(parentUuid) || this.#uuids.has(parentUuid)) return record
    return { ...record, parentUuid: this.#natives.of(parentId) }
  }

  /** A line with the `uuid` of an earlier one has its text as well. */
  #repeatsChanged(entry: Entry): boolean {
    return entry.type === "custom" && entry.customType === DUPLICATE && this.#changed.has(fieldsOf(entry.data)["uuid"])
  }

  /** The lines of an imported entry as they were. */
  #restored(entry: Entry, source: Source, hint: Hint): readonly { readonly at: number; readonly record: Fields }[] {
    const context = this.#contextOf(entry)
    const at = source.at
    const rest = (i: number): Parameters<typeof patched>[1] => source.rest?.[i] ?? {}
    switch (entry.type) {
      case "message": {
        if (hint.aside !== undefined)
          return recordsOf(source, [asideLine(entry, hint.aside, context)]) as readonly { at: number; record: Fields }[]
        if (entry.message.role === "assistant") {
          const assistant = entry as Entry & { readonly message: AssistantMessage }
          const records: { readonly at: number; readonly record: Fields }[] = []
          for (const [i, number] of at.entries()) {
            const previous = records.at(-1)?.record["uuid"]
            const line = assistantLine(assistant, i, at.length, previous, hint, context)
            records.push({ at: number, record: patched(line, rest(i)) as Fields })
          }
          return records
        }
        return recordsOf(source, [this.#userLine(entry, [entry], hint)]) as readonly { at: number; record: Fields }[]
      }
      case "compaction":
      case "branch_summary": {
        const o = { ...context, summaryUuid: "", preTokens: entry.type === "compaction" ? entry.tokensBefore : 0 }
        const encoded = compactionLines(entry, entry.summary, o)
        const records = recordsOf(source, encoded) as readonly { at: number; record: Fields }[]
        return records.map(({ at, record }) => ({ at, record: this.#withSegment(entry, record) }))
      }
      case "title_change": {
        const line = titleLine(entry.title ?? "", entry.source, this.#repeated["sessionId"])
        return recordsOf(source, [line]) as readonly { at: number; record: Fields }[]
      }
      case "metadata": {
        const line = relocatedLine(entry.value, this.#repeated["sessionId"])
        return recordsOf(source, [line]) as readonly { at: number; record: Fields }[]
      }
      case "custom":
        return at.map((number) => ({ at: number, record: this.#custom(entry) }))
      default:
        return []
    }
  }

  /** The data of a line that is no entry, with the id of the written session. */
  #custom(entry: Entry & { readonly type: "custom" }): Fields {
    if (entry.customType === UNREADABLE) return fieldsOf(entry.data)
    const data = fieldsOf(entry.data)
    const { sessionId } = this.#repeated
    return data["sessionId"] === this.#sourceId && sessionId !== this.#sourceId ? { ...data, sessionId } : data
  }

  #part(parts: Parts, entry: Entry, isWritten: boolean): readonly Line[] {
    const number = parts.source.at[0] as number
    if (isWritten) parts.entries.push(entry)
    const hint = (parts.source.hint ?? {}) as Hint
    const isLast = readSource(entry)?.hint?.["part"] === (hint.parts ?? 0) - 1
    const line = this.#lineOfParts(parts)
    this.#natives.set(entry, line["uuid"])
    if (!isLast) return this.#emit(entry, [])
    this.#parts = undefined
    const edits = parts.entries.map((part) => this.#editOf(part))
    if (parts.entries.length < (hint.parts ?? 0) || edits.some((edit) => edit !== undefined))
      this.#changed.add(line["uuid"])
    const record = this.#withParent(parts.first, line)
    const lines = this.#emit(entry, edits.some((edit) => edit?.content !== null) ? [{ at: number, record }] : [])
    // A branch may end at any of the parts.
    for (const part of parts.entries) this.#lines.copy(part, entry)
    return lines
  }

  /** The line of several entries; without those that were deleted, and with the new contents of edited ones. */
  #lineOfParts({ first, source, entries }: Parts): Fields {
    const hint = (source.hint ?? {}) as Hint
    const read = this.#userLine(originalOf(first), entries.map(originalOf), hint)
    const whole = recordsOf(source, [read])[0]?.record as Fields
    if (entries.length === hint.parts && entries.every((entry) => this.#editOf(entry) === undefined)) return whole
    const line = this.#userLine(first, entries, hint)
    // Other fields, as `toolUseResult`, may repeat the texts.
    const kept = Object.fromEntries(PLACE_FIELDS.flatMap((name) => (name in whole ? [[name, whole[name]]] : [])))
    return { ...line, ...kept }
  }

  #userLine(first: Entry, entries: readonly Entry[], hint: Hint): Fields {
    const messages = entries.flatMap((entry) => {
      const { message } = entry as Entry & { readonly message: ToolResultMessage | UserMessage }
      const content = hint.parts === undefined ? undefined : this.#editOf(entry)?.content
      return content === null ? [] : [content === undefined ? message : { ...message, content }]
    })
    const results = messages.filter((message): message is ToolResultMessage => message.role === "toolResult")
    const user = messages.find((message): message is UserMessage => message.role !== "toolResult")
    return userLine(results, user, first, hint, this.#contextOf(first))
  }

  async #appended(entry: Entry, isWritten: boolean): Promise<readonly Line[]> {
    this.#hasAppended = true
    if (!isWritten) {
      this.#natives.set(entry, undefined)
      return this.#emit(entry, [])
    }
    const edit = this.#editOf(entry)
    if (edit !== undefined) return this.#edited(entry, undefined, edit.content)
    if (entry.type === "reset_boundary") {
      this.#natives.cut(entry.id)
      return []
    }
    const lines = await this.#freshLines(entry)
    this.#natives.set(entry, lines.at(-1)?.["uuid"])
    return this.#emit(
      entry,
      lines.map((record) => ({ at: undefined, record })),
    )
  }

  async #freshLines(entry: Entry): Promise<readonly Fields[]> {
    const context = this.#contextOf(entry)
    switch (entry.type) {
      case "message":
      case "custom_message":
      case "branch_summary":
        return this.#fresh.of(entry, context)
      case "compaction":
        return this.#fresh.compaction(entry, context, this.#lines.keptBy(entry))
      case "title_change":
        return this.#fresh.title(entry, context)
      case "leaf":
      case "tombstone":
      case "context_edit":
        return []
      default:
        lostAside(entry, this.#losses)
        return []
    }
  }

  /** An edited entry, encoded anew, in the sidechain of its line; without its lines if it is left out of the context. */
  async #edited(
    entry: Entry,
    at: number | undefined,
    content: readonly ContentBlock[] | null,
    { isSidechain, agentId }: Fields = {},
  ): Promise<readonly Line[]> {
    if (content === null) {
      this.#losses.add("edits", 1, (n) => `${n} entries that edits leave out of the context are not in the file.`)
    }
    const context = this.#contextOf(entry)
    const side = isSidechain === true ? { isSidechain, ...(agentId === undefined ? {} : { agentId }) } : {}
    const place = { ...context, repeated: { ...context.repeated, ...side } }
    const lines = content === null ? [] : await this.#fresh.of(entry, place, content)
    this.#natives.set(entry, lines.at(-1)?.["uuid"])
    return this.#emit(
      entry,
      lines.map((record) => ({ at, record })),
    )
  }

  /** In a file of Claude Code, the records of a compaction say which entries it keeps. */
  #editOf({ seq }: Entry): { readonly content: readonly ContentBlock[] | null } | undefined {
    const edit = this.#index.editOf(seq)
    return edit === undefined || (edit.isImported && this.#isNative) ? undefined : edit
  }

  /** The boundary of an imported compaction. A segment is found by its ends: if one of them was deleted, it gets others. */
  #withSegment(entry: Entry, boundary: Fields): Fields {
    const metadata = fieldsOf(boundary["compactMetadata"])
    const { preservedMessages, preservedSegment: segment } = metadata
    if (entry.type !== "compaction" || preservedMessages !== undefined || !isObject(segment)) return boundary
    if (this.#uuids.has(segment["headUuid"]) && this.#uuids.has(segment["tailUuid"])) return boundary
    const kept = this.#lines.keptBy(entry)
    if (kept.length === 0) return boundary
    const preservedSegment = { ...segment, headUuid: kept[0], tailUuid: kept.at(-1) }
    return { ...boundary, compactMetadata: { ...metadata, preservedSegment } }
  }

  #contextOf({ parentId }: Entry): LineContext {
    return { repeated: this.#repeated, parentUuid: this.#natives.of(parentId) }
  }

  /** The texts of the lines of an entry; lines with the same number follow each other. Without lines, the entry is passed over. */
  #emit(
    entry: Entry,
    records: readonly { readonly at: number | undefined; readonly record: Fields }[],
  ): readonly Line[] {
    const texts = new Map<number | undefined, string>()
    const isOnPath = this.#index.isOnPath(entry.seq)
    const uuids: string[] = []
    for (const { at, record } of records) {
      const isText = entry.type === "custom" && entry.customType === UNREADABLE
      const line = lineOf(isText ? (stringOf(record["text"]) ?? "") : record)
      texts.set(at, `${texts.get(at) ?? ""}${line}`)
      if (isText) continue
      this.#sawCalls(record)
      if (typeof record["uuid"] === "string") uuids.push(record["uuid"])
      this.#uuids.add(record["uuid"])
      const isSide = record["isSidechain"] === true && this.#repeated["isSidechain"] !== true
      if (isSide || !isLeaf({ at: 0, value: record })) continue
      const place = at ?? Number.POSITIVE_INFINITY
      if (place >= this.#last.at) this.#last = { at: place, isOnPath }
      if (isOnPath) this.#leaf = record
    }
    this.#lines.add(entry, uuids)
    return [...texts].map(([at, line]) => ({ at, line }))
  }

  #sawCalls({ message }: Fields): void {
    const { content } = fieldsOf(message)
    if (!Array.isArray(content)) return
    for (const block of content as readonly unknown[]) {
      if (isObject(block) && block["type"] === "tool_use" && typeof block["id"] === "string")
        this.#fresh.sawCall(block["id"])
    }
  }
}
