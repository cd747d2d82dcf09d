/**
 * Reads a "recordType" log: `<id>/session.jsonl`, and `metadata.json` beside it. Every record is one entry, in a chain; a compaction keeps
 * the messages from a seq on.
 */
import { type Entry, type Header, SessionError } from "@sessions/core"
import { messageProblem } from "@sessions/core/format"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { headerOf, LogBuilder, type Payload, type Place } from "../base/log-builder.ts"
import { type Fields, fieldsOf, numberOf, stringOf, textBlock, timestampOf } from "../base/values.ts"
import { encode, FORMAT } from "./codec.ts"
import { kindOfLine } from "./record-types.ts"

/** `schemaVersion` of the records. */
const VERSION = 1

export async function* read({ main, beside }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  const metadata = await metadataOf(beside("metadata.json"), note)
  let log: RecordLog | undefined
  for await (const lines of readJsonLines(main, note)) {
    for (const line of lines) {
      if (log === undefined) {
        const header = headerOfMetadata(metadata, line)
        yield header
        log = new RecordLog(header, note)
        yield* log.describe(metadata)
      }
      yield log.read(line)
    }
  }
}

async function metadataOf(file: AsyncIterable<Uint8Array> | undefined, note: Note): Promise<Fields> {
  if (file === undefined) return {}
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of file) text += decoder.decode(piece, { stream: true })
  try {
    return fieldsOf(JSON.parse(text + decoder.decode()))
  } catch {
    note({ code: "unparsable_line", message: "metadata.json is not JSON; the session has no title and no id of it." })
    return {}
  }
}

function headerOfMetadata(metadata: Fields, line: SourceLine): Header {
  const times = [metadata["createdAt"], line.value?.["timestamp"]]
  const timestamp = times.map(timestampOf).find((time) => time !== undefined) ?? new Date(0).toISOString()
  const { source } = metadata
  const cronJobId = stringOf(metadata["cronJobId"])
  const prompt = stringOf(metadata["systemPromptOverride"])
  return headerOf(
    { format: FORMAT, version: VERSION, id: stringOf(metadata["id"]), timestamp },
    {
      ...(source === "interactive" || source === "cron" ? { source } : {}),
      ...(cronJobId === undefined ? {} : { cronJobId }),
      ...(prompt === undefined ? {} : { systemPromptOverride: prompt }),
    },
  )
}

class RecordLog {
  readonly #log: LogBuilder
  readonly #messages: { readonly seq: number; readonly id: string }[] = []

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfLine)
  }

  /** The metadata beside the log, which no line has. */
  *describe(metadata: Fields): Generator<Entry, void, undefined> {
    if (Object.keys(metadata).length === 0) return
    yield this.#log.add({ type: "custom", customType: `${FORMAT}/metadata`, data: metadata }, { source: { at: [] } })
    const { name } = metadata
    if (typeof name !== "string" || name === "") return
    yield this.#log.add({ type: "title_change", title: name, source: "user" }, { source: { at: [] } })
  }

  read(line: SourceLine): Entry {
    if (line.value === undefined) return this.#log.addUnreadable(line)
    const { recordType, schemaVersion } = line.value
    if (typeof schemaVersion === "number" && schemaVersion > VERSION) throw newerVersionError(schemaVersion)
    const entry = recordType === "message" ? this.#message(line) : undefined
    return entry ?? (recordType === "compaction" ? this.#compaction(line) : undefined) ?? this.#aside(line)
  }

  #message(line: JsonLine): Entry | undefined {
    const message = messageOf(line.value)
    if (message === undefined) return undefined
    const entry = this.#add(line, { type: "message", message })
    this.#messages.push({ seq: numberOf(line.value["seq"]) ?? 0, id: entry.id })
    return entry
  }

  #compaction(line: JsonLine): Entry | undefined {
    const { summary, firstKeptSeq, tokensBefore, readFiles, modifiedFiles } = line.value
    if (typeof summary !== "string") return undefined
    const id = `compaction-${line.at}`
    const first = numberOf(firstKeptSeq)
    const kept = first === undefined ? undefined : this.#messages.find(({ seq }) => seq >= first)
    // Their count has the summarized messages alone.
    const tokensSummarized = numberOf(tokensBefore)
    const fields = {
      summary,
      firstKeptEntryId: kept?.id ?? id,
      tokensBefore: tokensSummarized ?? 0,
      ...(tokensSummarized === undefined ? {} : { tokensSummarized }),
      readFiles: textsOf(readFiles),
      modifiedFiles: textsOf(modifiedFiles),
    }
    return this.#add(line, { type: "compaction", ...fields }, { id })
  }

  #aside(line: JsonLine): Entry {
    const type = stringOf(line.value["recordType"]) ?? "record"
    return this.#add(line, { type: "custom", customType: `${FORMAT}/${type}`, data: line.value })
  }

  #add({ at, value }: JsonLine, payload: Payload, place: Place = {}): Entry {
    const timestamp = timestampOf(value["timestamp"])
    return this.#log.add(payload, {
      ...place,
      at,
      timestamp,
      source: (entry) => sourceOf([at], [value], [encode(entry)]),
    })
  }
}

/** Messages have our shapes; undefined for a record with others. */
function messageOf({ role, content, toolCallId, toolName, isError }: Fields): Fields | undefined {
  const blocks = typeof content === "string" ? [textBlock(content)] : content
  const name = typeof toolName === "string" ? { toolName } : {}
  const result = role === "toolResult" ? { toolCallId, ...name, isError: isError === true } : {}
  const message = { role, ...result, content: blocks }
  return ROLES.has(role) && messageProblem(message) === undefined ? message : undefined
}

const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult"])

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter((text) => typeof text === "string") : []
}

function newerVersionError(version: number): SessionError {
  const message = `The log has records of schemaVersion ${version}; this version of the importer reads ${VERSION}. Update @sessions/formats.`
  return new SessionError("newer_version", message)
}
