/** Reads a session that `opencode export` wrote: one document, which is held in memory. */
import { type Entry, type Header, SessionError } from "@sessions/core"
import { type Source, sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { sessionIdOf } from "../base/ids.ts"
import { headerOf, LogBuilder, type Payload } from "../base/log-builder.ts"
import { type Fields, fieldsOf, idTextOf, isObject, stringOf, textBlock, timestampOf } from "../base/values.ts"
import { type Compactions, compactionsOf, hasCompaction, isOpen, isSummary, partsOf } from "./compactions.ts"
import { stepMessages, stepsOf, userMessage } from "./messages.ts"
import { kindOfRecord } from "./record-types.ts"

export const FORMAT = "opencode"

/** `customType` of the fields of a document beside `info` and `messages`. */
export const DOCUMENT = "opencode/document"

/** The version of the sources: whole records. */
const VERSION = 1

/** What opencode sends in place of an old result. */
const CLEARED = "[Old tool result content cleared]"

export async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  const { info, messages, rest } = await documentOf(main)
  const header = await headerOfInfo(info)
  yield header
  yield* new Transcript(header, note, { info, messages, rest }).read()
}

interface Document {
  readonly info: Fields
  readonly messages: readonly unknown[]
  /** Its other fields. */
  readonly rest: Fields
}

async function documentOf(main: AsyncIterable<string>): Promise<Document> {
  let text = ""
  for await (const piece of main) text += piece
  try {
    const { info, messages, ...rest } = fieldsOf(JSON.parse(text.slice(beginOf(text))))
    if (isObject(info) && Array.isArray(messages)) return { info, messages, rest }
  } catch (cause) {
    throw new SessionError("not_a_session", "The file of opencode is one JSON document, and is incomplete.", { cause })
  }
  throw new SessionError("not_a_session", "The file of opencode has no `info` or no `messages`.")
}

/** `opencode export` may print what it does before the document. */
export function beginOf(text: string): number {
  return /^[^{[]{0,500}(?=\{\s*"info"\s*:)/.exec(text)?.[0].length ?? 0
}

async function headerOfInfo(info: Fields): Promise<Header> {
  const timestamp = timestampOf(fieldsOf(info["time"])["created"]) ?? new Date(0).toISOString()
  const cwd = stringOf(info["directory"])
  const parent = stringOf(info["parentID"])
  return headerOf(
    { format: FORMAT, version: VERSION, id: stringOf(info["id"]), timestamp },
    {
      ...(cwd === undefined ? {} : { cwd }),
      // Every session with a parent was made by a tool of it.
      ...(parent === undefined ? {} : { kind: "subagent", parentSession: { id: await sessionIdOf(FORMAT, parent) } }),
    },
  )
}

interface ExportedMessage {
  readonly info: Fields
  readonly parts: readonly Fields[]
}

class Transcript {
  readonly #log: LogBuilder
  readonly #info: Fields
  readonly #messages: readonly unknown[]
  readonly #rest: Fields
  /** The first entry of each message, or of the one behind it if it has none. */
  readonly #firsts = new Map<string, string>()
  /** Messages without an entry so far. */
  readonly #waiting: string[] = []
  /** The entry before each message and before the step of each part. */
  readonly #before = new Map<string, string | null>()
  /** The last entry of the conversation. */
  #leaf: string | null = null
  #source: Source | undefined
  readonly #compactions: Compactions

  constructor(header: Header, note: Note, { info, messages, rest }: Document) {
    this.#log = new LogBuilder(header, note, kindOfRecord)
    this.#info = info
    this.#messages = messages
    this.#rest = rest
    this.#compactions = compactionsOf(messages.map(fieldsOf))
  }

  *read(): Generator<Entry, void, undefined> {
    const { title, revert } = this.#info
    this.#source = sourceOf([1], [this.#info], [{}])
    yield this.#custom("session", this.#info)
    if (Object.keys(this.#rest).length > 0) yield this.#add({ type: "custom", customType: DOCUMENT, data: this.#rest })
    if (typeof title === "string" && title !== "") yield this.#add({ type: "title_change", title, source: "auto" })
    for (const [i, value] of this.#messages.entries()) {
      this.#source = sourceOf([i + 2], [fieldsOf(value)], [{}])
      const { info, parts } = fieldsOf(value)
      if (!isObject(info) || !Array.isArray(parts)) yield this.#custom("message", value)
      else yield* this.#message({ info, parts: (parts as readonly unknown[]).filter(isObject) })
    }
    const { messageID, partID } = fieldsOf(revert)
    const target = this.#before.get(stringOf(partID) ?? "") ?? this.#before.get(stringOf(messageID) ?? "")
    if (target !== undefined) yield this.#log.add({ type: "leaf" }, { parentId: target, source: { at: [] } })
    const end = target === undefined ? this.#log.end(this.#leaf) : undefined
    if (end !== undefined) yield end
  }

  *#message(message: ExportedMessage): Generator<Entry, void, undefined> {
    const { info, parts } = message
    this.#before.set(idTextOf(info["id"]), this.#leaf)
    this.#waiting.push(idTextOf(info["id"]))
    if (info["role"] === "user") {
      const isCompaction = hasCompaction(message) && !this.#compactions.stopped.has(info["id"])
      // The summary that answers it becomes the compaction.
      yield isCompaction ? this.#custom("compaction", message) : this.#said(message, userMessage(parts), "")
    } else if (info["role"] !== "assistant" || isFailed(message)) yield this.#custom("message", message)
    else if (isSummary(message)) yield* this.#compaction(message)
    else if (info["summary"] === true && isOpen(message, this.#compactions)) yield this.#custom("message", message)
    else yield* this.#steps(message)
  }

  *#compaction({ info, parts }: ExportedMessage): Generator<Entry, void, undefined> {
    const request = this.#messages.map(fieldsOf).find((message) => fieldsOf(message["info"])["id"] === info["parentID"])
    const part = partsOf(request).find(({ type }) => type === "compaction")
    if (part === undefined) {
      yield* this.#steps({ info, parts })
      return
    }
    const id = idTextOf(info["id"])
    const summary = parts.flatMap(({ type, text }) => (type === "text" ? (stringOf(text) ?? []) : [])).join("\n")
    const firstKeptEntryId = this.#firsts.get(stringOf(part["tail_start_id"]) ?? "") ?? id
    const fields = { summary, summaryAs: "pair", firstKeptEntryId, tokensBefore: 0, readFiles: [], modifiedFiles: [] }
    const entry = this.#add({ type: "compaction", ...fields }, id, info)
    this.#leaf = entry.id
    yield entry
  }

  *#steps(message: ExportedMessage): Generator<Entry, void, undefined> {
    let count = 0
    for (const parts of stepsOf(message.parts)) {
      for (const part of parts) this.#before.set(idTextOf(part["id"]), this.#leaf)
      const step = stepMessages(message.info, parts)
      if (step === undefined) continue
      yield this.#said(message, step.message, count++ === 0 ? "" : `:${count}`)
      for (const { message: result, time, isCleared } of step.results) {
        const entry = this.#said(message, result, `:${++count}`, timestampOf(time))
        yield entry
        if (!isCleared) continue
        const edit = { targetId: entry.id, replacement: { content: [textBlock(CLEARED)] } }
        const edited = this.#add({ type: "context_edit", ...edit })
        this.#leaf = edited.id
        yield edited
      }
    }
    if (count === 0) yield this.#custom("message", message)
  }

  #said({ info }: ExportedMessage, message: Fields, suffix: string, timestamp?: string): Entry {
    const id = idTextOf(info["id"])
    const entry = this.#add({ type: "message", message }, `${id}${suffix}`, info, timestamp)
    for (const waiting of this.#waiting.splice(0)) this.#firsts.set(waiting, entry.id)
    this.#leaf = entry.id
    return entry
  }

  #custom(type: string, data: unknown): Entry {
    return this.#add({ type: "custom", customType: `${FORMAT}/${type}`, data })
  }

  /** The first entry of a record holds it; the others follow from it. */
  #add(payload: Payload, id?: string, info: Fields = {}, time?: string): Entry {
    const timestamp = time ?? timestampOf(fieldsOf(info["time"])["created"])
    const source = this.#source ?? { at: [] }
    this.#source = undefined
    return this.#log.add(payload, { id, timestamp, at: source.at[0], source })
  }
}

/** opencode does not send a message that failed, unless it was aborted when it had content. */
function isFailed({ info, parts }: ExportedMessage): boolean {
  if (!isObject(info["error"])) return false
  const isAborted = info["error"]["name"] === "MessageAbortedError"
  return !(isAborted && parts.some(({ type }) => type !== "step-start" && type !== "reasoning"))
}
