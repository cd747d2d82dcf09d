/**
 * Writes a session as the document that `opencode import` takes. A session that came from opencode gets its own records back; a message of
 * it that was edited, or of which an entry was deleted, is written anew. The document has one path: see `docs/formats.md`.
 */
import type { Entry, Header, Message } from "@sessions/core"
import { readSource, recordsOf } from "../base/codec.ts"
import type { SessionToWrite, WriteOptions } from "../base/format.ts"
import { lostAside } from "../base/lost.ts"
import { Losses } from "../base/losses.ts"
import { modelMessagesOf } from "../base/model-messages.ts"
import { type Fields, fieldsOf, isObject, jsonOf } from "../base/values.ts"
import { originalOf } from "../base/well-formed.ts"
import { indexLog, isConversation, type LogIndex } from "../base/written-path.ts"
import { hasCompaction, idOf, partsOf, type WrittenMessage, withoutOpenRequests } from "./compactions.ts"
import { AscendingIds, opencodeIdOf, suffixOf } from "./ids.ts"
import { OpencodeMessages, type Written } from "./parts.ts"
import { DOCUMENT, FORMAT } from "./read.ts"

/** The version whose documents this writer was compared with. */
const WRITTEN_VERSION = "1.18.33"

export async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const { header } = session
  const index = await indexLog(session)
  const losses = new Losses()
  const isOwn = header.origin?.format === FORMAT
  const groups = await groupsOf(session, index, isOwn)
  const all = isOwn && o.branches !== "path" && continues(groups, index)
  if (!all) losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  const id = o.id ?? (isOwn ? header.origin.id : undefined) ?? (await opencodeIdOf(header))
  const ids = new AscendingIds(await suffixOf(id))
  const cwd = o.cwd ?? header.cwd ?? "/"
  const writer = new DocumentWriter(index, losses, { sessionID: id, cwd, ids }, all)
  for (const group of groups) writer.take(group)
  const document = writer.end(header, o)
  const isRenamed = isOwn && o.id !== undefined && o.id !== header.origin.id
  const renamed = isRenamed ? (record: unknown) => withIds(record, id, ids) : (record: unknown) => record
  const { info, messages, rest } = document
  yield `{"info":${jsonOf(renamed(info))},"messages":[`
  for (const [i, message] of messages.entries()) yield `${i === 0 ? "\n" : ",\n"}${jsonOf(renamed(message))}`
  yield `\n]${Object.entries(rest)
    .map(([name, value]) => `,${jsonOf(name)}:${jsonOf(value)}`)
    .join("")}}\n`
  losses.report(o)
}

/** The entries of one message of the document that was imported, or one entry of another origin. */
interface Group {
  readonly entries: Entry[]
  /** The position in the document: 1 is its `info`. */
  readonly at?: number
}

async function groupsOf(session: SessionToWrite, index: LogIndex, isOwn: boolean): Promise<readonly Group[]> {
  const groups: Group[] = []
  for await (const entry of session.entries()) {
    const source = isOwn ? readSource(entry) : undefined
    const at = source?.at[0]
    const last = groups.at(-1)
    if (source !== undefined && at === undefined && last?.at !== undefined) last.entries.push(entry)
    else if (at !== undefined || index.isWritten(entry.seq))
      groups.push({ entries: [entry], ...(at === undefined ? {} : { at }) })
  }
  return groups
}

/** Whether the whole document can be restored: the session has nothing new, or goes on at the end of it. */
function continues(groups: readonly Group[], index: LogIndex): boolean {
  const imported = groups.filter(({ at }) => at !== undefined).flatMap(({ entries }) => entries)
  const last = imported.findLast((entry) => isConversation(entry) || entry.type === "leaf")
  if (last !== undefined && !index.isOnPath(last.seq)) return false
  // opencode removes what was reverted when the session goes on.
  return last?.type !== "leaf" || groups.every(({ at, entries }) => at !== undefined || !entries.some(isConversation))
}

interface Place {
  readonly sessionID: string
  readonly cwd: string
  readonly ids: AscendingIds
}

class DocumentWriter {
  readonly #index: LogIndex
  readonly #losses: Losses
  readonly #all: boolean
  readonly #messages: OpencodeMessages
  readonly #place: Place
  #written: WrittenMessage[] = []
  /** Ids of messages of the document that are not written as they were. */
  readonly #left = new Set<unknown>()
  /** Ids of its requests whose summaries are not. */
  readonly #unanswered = new Set<unknown>()
  #info: Fields | undefined
  #rest: Fields = {}
  #title: { readonly text: string; readonly isUser: boolean } | undefined
  #time = 0

  constructor(index: LogIndex, losses: Losses, place: Place, all: boolean) {
    this.#index = index
    this.#losses = losses
    this.#all = all
    this.#place = place
    this.#messages = new OpencodeMessages({ ...place, losses })
  }

  take(group: Group): void {
    const [first] = group.entries
    if (first === undefined) return
    if (group.at === undefined) {
      this.#entry(first)
      return
    }
    if (group.at === 1) {
      for (const entry of group.entries) {
        if (entry.type === "custom") this.#setDocument(entry)
        else this.#entry(entry, true)
      }
      return
    }
    const record = recordOf(first)
    if (this.#isRestored(group, record)) {
      this.#restore(group, record)
      return
    }
    const id = idOf(record)
    if (id !== undefined) this.#left.add(id)
    if (first.type === "compaction") this.#unanswered.add(fieldsOf(fieldsOf(record)["info"])["parentID"])
    for (const entry of group.entries) if (this.#index.isWritten(entry.seq)) this.#entry(entry, true)
  }

  end(
    header: Header,
    o: WriteOptions,
  ): { readonly info: Fields; readonly messages: readonly unknown[]; readonly rest: Fields } {
    const { sessionID, cwd } = this.#place
    const created = Date.parse(header.timestamp) || 0
    const made = {
      id: sessionID,
      slug: sessionID.slice(-8),
      projectID: "global",
      directory: cwd,
      title: "Session",
      version: WRITTEN_VERSION,
      time: { created, updated: Math.max(created, this.#time) },
    }
    const { revert, ...info }: Fields = this.#info ?? made
    const title = this.#title === undefined ? {} : { title: this.#title.text }
    const isReverted = revert !== undefined && this.#all
    const { written, unfinished } = withoutOpenRequests(this.#written, this.#unanswered)
    this.#losses.add("compactions", unfinished, (n) => `${n} compactions without a whole summary are not in the file.`)
    return {
      info: {
        ...info,
        ...(isReverted ? { revert } : {}),
        ...title,
        ...(o.id === undefined ? {} : { id: sessionID }),
        ...(o.cwd === undefined ? {} : { directory: cwd }),
      },
      messages: written.map(({ record }) => record),
      rest: this.#rest,
    }
  }

  #setDocument(entry: Entry & { readonly type: "custom" }): void {
    if (entry.customType === DOCUMENT) this.#rest = fieldsOf(entry.data)
    else this.#info = fieldsOf(recordsOf(readSource(entry) ?? { at: [] }, [{}])[0]?.record)
  }

  #isRestored({ entries }: Group, record: unknown): boolean {
    if (entries[0]?.type === "compaction" && !this.#isWhole(record)) return false
    return entries.every((entry) => {
      const { seq } = entry
      if (this.#index.isDeleted(seq)) return false
      const edit = this.#index.editOf(seq)
      if (edit !== undefined && !edit.isImported) return false
      return this.#all || this.#index.isWritten(seq) || entry.type === "leaf"
    })
  }

  /** Whether the request of a summary, and the message that its compaction keeps first, are written as they were. */
  #isWhole(record: unknown): boolean {
    const { parentID } = fieldsOf(fieldsOf(record)["info"])
    const request = this.#written.find((written) => idOf(written.record) === parentID)
    const tails = partsOf(fieldsOf(request?.record)).map(({ tail_start_id: tail }) => tail)
    return ![parentID, ...tails].some((id) => this.#left.has(id))
  }

  #restore({ entries }: Group, record: unknown): void {
    const { info, parts } = fieldsOf(record)
    if (isObject(info) && Array.isArray(parts)) this.#time = Math.max(this.#time, this.#messages.saw(info))
    const seq = entries.findLast(
      (entry) => isConversation(entry) && entry.type !== "compaction" && this.#index.isOnPath(entry.seq),
    )?.seq
    const isWaiting = entries.some(({ type }) => type === "custom") && hasCompaction(fieldsOf(record))
    this.#written.push({ record, seq, ...(isWaiting ? { isWaiting } : {}) })
  }

  #entry(entry: Entry, isOwn = false): void {
    const time = this.#timeOf(entry)
    const edit = this.#index.editOf(entry.seq)
    if (edit !== undefined) {
      this.#losses.add("edits", 1, (n) => `${n} entries are written with their edited contents only.`)
      if (edit.content === null) return
    }
    switch (entry.type) {
      case "message":
      case "custom_message":
      case "branch_summary":
        for (const message of modelMessagesOf(entry, edit?.content ?? undefined)) this.#said(entry, message, time)
        return
      case "compaction":
        this.#compacted(entry, time)
        return
      case "reset_boundary": {
        const { length } = this.#written
        this.#losses.add("history", length, (n) => `${n} messages before a reset of the context are not in the file.`)
        this.#written = []
        return
      }
      case "title_change":
        if (entry.source === "auto" && this.#title?.isUser === true) return
        this.#title = entry.title === null ? undefined : { text: entry.title, isUser: entry.source === "user" }
        return
      case "leaf":
      case "tombstone":
      case "context_edit":
        return
      default: {
        if (isOwn) return
        lostAside(entry, this.#losses)
      }
    }
  }

  #said(entry: Entry, message: Message, time: number): void {
    switch (message.role) {
      case "user": {
        const files = (message.attachments ?? []).map((attachment) => ({ ...attachment, type: "file" as const }))
        const isMade = message.synthetic === true || entry.type !== "message" || entry.message.role !== "user"
        this.#push(entry, this.#messages.user([...message.content, ...files], time, isMade))
        return
      }
      case "assistant":
        this.#push(entry, this.#messages.assistant(message, time))
        return
      case "toolResult":
        this.#answered(entry, this.#messages.result(message, time))
        return
      default:
        this.#losses.add("system", 1, (n) => `${n} system messages are not in the file: opencode has its own.`)
    }
  }

  /** opencode sends all from the first message that is kept, also the summaries of earlier compactions. */
  #compacted(entry: Entry & { readonly type: "compaction" }, time: number): void {
    const tail = this.#tailOf(entry)
    const kept =
      tail === undefined ? this.#written.length : this.#written.findIndex(({ record }) => idOf(record) === tail)
    this.#written = this.#written.filter(({ isSummary }, at) => isSummary !== true || at < kept)
    for (const record of this.#messages.compaction(entry.summary, tail, time))
      this.#written.push({ record, seq: undefined, isNew: true, isSummary: true })
  }

  #push({ seq }: Entry, record: Written | undefined): void {
    if (record !== undefined) this.#written.push({ record, seq, isNew: true })
  }

  /** The result is in the message of the call. */
  #answered({ seq }: Entry, record: Written | undefined): void {
    const at = this.#written.findLastIndex((written) => written.record === record)
    if (record !== undefined && at >= 0) this.#written[at] = { record, seq, isNew: true }
  }

  /** The id of the first message of which a compaction keeps something. */
  #tailOf(entry: Entry & { readonly type: "compaction" }): string | undefined {
    if (entry.firstKeptEntryId === entry.id) return undefined
    const first = this.#index.find(entry.firstKeptEntryId, entry.seq)
    // On another branch: core keeps nothing then.
    const isKept = first !== undefined && this.#index.isOnPath(first)
    const kept = !isKept ? undefined : this.#written.find(({ seq }) => seq !== undefined && seq >= first)
    return idOf(kept?.record)
  }

  /** opencode sorts by time, so a message is never earlier than the one before it. */
  #timeOf({ timestamp }: Entry): number {
    this.#time = Math.max(this.#time, Date.parse(timestamp) || 0)
    return this.#time
  }
}

/** The message of the document of which an entry is the first. */
function recordOf(entry: Entry): unknown {
  const first = originalOf(entry)
  const source = readSource(first)
  const found = source === undefined ? undefined : recordsOf(source, [{}])[0]?.record
  // A record that is no object is in its entry alone.
  return first.type === "custom" && !isObject(first.data) ? first.data : found
}

/** A record with the id of the written session, and ids of its own: messages of all sessions are in one table of opencode. */
function withIds(record: unknown, sessionID: string, ids: AscendingIds): unknown {
  if (Array.isArray(record)) return record.map((value) => withIds(value, sessionID, ids))
  if (!isObject(record)) return record
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      if (name === "sessionID" && typeof value === "string") return [name, sessionID]
      if (IDS.has(name) && typeof value === "string" && /^(?:msg|prt)_/.test(value)) return [name, ids.renamed(value)]
      return [name, NESTED.has(name) ? withIds(value, sessionID, ids) : value]
    }),
  )
}

const IDS: ReadonlySet<string> = new Set(["id", "parentID", "messageID", "partID", "tail_start_id"])
/** The fields in which records have ids of messages and parts. */
const NESTED: ReadonlySet<string> = new Set(["info", "parts", "state", "attachments", "revert"])
