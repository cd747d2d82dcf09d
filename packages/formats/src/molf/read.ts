/** Reads a session of molf: one document, which is held in memory. Its messages are a chain; the last pair of summaries is a compaction. */
import { type Entry, type Header, SessionError } from "@sessions/core"
import { type Source, sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { headerOf, LogBuilder, type Payload } from "../base/log-builder.ts"
import { type Fields, fieldsOf, idTextOf, isObject, stringOf, timestampOf } from "../base/values.ts"
import { MAX_ATTACHMENTS, messageOf } from "./messages.ts"
import { kindOfRecord } from "./record-types.ts"

export const FORMAT = "molf"

/** The version of the sources: whole records. */
const VERSION = 1

export async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  const { messages, ...fields } = await documentOf(main)
  const timestamp = timestampOf(fields["createdAt"]) ?? new Date(0).toISOString()
  const header = headerOf({ format: FORMAT, version: VERSION, id: stringOf(fields["sessionId"]), timestamp })
  yield header
  yield* new Conversation(header, note).read(fields, messages)
}

type Document = Fields & { readonly messages: readonly unknown[] }

async function documentOf(main: AsyncIterable<string>): Promise<Document> {
  let text = ""
  for await (const piece of main) text += piece
  try {
    const document = fieldsOf(JSON.parse(text))
    if (Array.isArray(document["messages"])) return document as Document
  } catch (cause) {
    throw new SessionError("not_a_session", "The file of molf is one JSON document, and is incomplete.", { cause })
  }
  throw new SessionError("not_a_session", "The file of molf has no list of messages.")
}

class Conversation {
  readonly #log: LogBuilder
  readonly #note: Note
  readonly #toolNames = new Map<string, string>()
  #source: Source | undefined

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfRecord)
    this.#note = note
  }

  *read(fields: Fields, messages: readonly unknown[]): Generator<Entry, void, undefined> {
    this.#source = sourceOf([1], [fields], [{}])
    yield this.#add({ type: "custom", customType: `${FORMAT}/session`, data: fields })
    const { name } = fields
    if (typeof name === "string" && name !== "") yield this.#add({ type: "title_change", title: name, source: "user" })
    for (const key of METADATA) {
      if (fields[key] !== undefined) yield this.#add({ type: "metadata", key, value: fields[key] })
    }
    const summary = lastSummary(messages)
    for (const [i, value] of messages.entries()) {
      // A value that is no object is kept, too.
      this.#source = sourceOf([i + 2], [value as Fields], [{}])
      const record = fieldsOf(value)
      if (i === summary) yield this.#compaction(record, i)
      else if (i === summary - 1) yield this.#aside(record)
      else yield this.#message(record)
    }
  }

  #message(record: Fields): Entry {
    const message = messageOf(record, this.#toolNames)
    if (message === undefined) return this.#aside(record)
    const { attachments } = record
    if (Array.isArray(attachments) && attachments.length > MAX_ATTACHMENTS) {
      const text = `Message ${idTextOf(record["id"])} has ${attachments.length} attachments; those after the first ${MAX_ATTACHMENTS} are blocks.`
      this.#note({ code: "invalid_record", message: text })
    }
    return this.#add({ type: "message", message }, record)
  }

  /** The file does not say which turns were kept. */
  #compaction(record: Fields, i: number): Entry {
    const id = stringOf(record["id"]) ?? `summary-${i}`
    const summary = stringOf(record["content"]) ?? ""
    const fields = {
      summary,
      summaryAs: "pair",
      firstKeptEntryId: id,
      tokensBefore: 0,
      readFiles: [],
      modifiedFiles: [],
    }
    return this.#add({ type: "compaction", ...fields }, { ...record, id })
  }

  #aside(record: Fields): Entry {
    return this.#add({ type: "custom", customType: `${FORMAT}/message`, data: record })
  }

  /** The first entry of a record holds it; the others follow from it. */
  #add(payload: Payload, record: Fields = {}): Entry {
    const source = this.#source ?? { at: [] }
    this.#source = undefined
    const { id, timestamp } = record
    return this.#log.add(payload, { id: stringOf(id), timestamp: timestampOf(timestamp), source })
  }
}

const METADATA = ["workerId", "workspaceId", "metadata"]

/** The place of the answer in the last pair of messages that are a summary; -1 if there is none. */
function lastSummary(messages: readonly unknown[]): number {
  const isSummary = (message: unknown, role: string): boolean =>
    isObject(message) && message["summary"] === true && message["role"] === role
  return messages.findLastIndex((message, i) => isSummary(message, "assistant") && isSummary(messages[i - 1], "user"))
}
