/** Reads a session of noumen: messages in the shape of OpenAI's, one a line, without a header. */
import type { ContentBlock, Entry, Header } from "@sessions/core"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { headerOf, LogBuilder, type Payload, type Place } from "../base/log-builder.ts"
import { argumentsOfCall, type Fields, fieldsOf, stringOf, textBlock, timestampOf } from "../base/values.ts"
import { encode, FORMAT } from "./codec.ts"
import { kindOfLine } from "./record-types.ts"

/** The version of `encode`. */
const VERSION = 1

/** The lines in which the session's id is looked for. */
const HEADER_LINES = 50

export async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let transcript: Transcript | undefined
  const before: SourceLine[] = []
  for await (const lines of readJsonLines(main, note)) {
    for (const line of lines) {
      if (transcript !== undefined) {
        yield* transcript.read(line)
        continue
      }
      before.push(line)
      if (typeof line.value?.["sessionId"] !== "string" && before.length < HEADER_LINES) continue
      const header = headerOfLines(before)
      yield header
      transcript = new Transcript(header, note)
      for (const first of before) yield* transcript.read(first)
    }
  }
  if (transcript !== undefined) yield* transcript.end()
}

function headerOfLines(lines: readonly SourceLine[]): Header {
  const times = lines.map(({ value }) => timestampOf(value?.["timestamp"]))
  const timestamp = times.find((time) => time !== undefined) ?? new Date(0).toISOString()
  return headerOf({ format: FORMAT, version: VERSION, id: stringOf(lines.at(-1)?.value?.["sessionId"]), timestamp })
}

class Transcript {
  readonly #log: LogBuilder
  readonly #toolNames = new Map<string, string>()
  /** A boundary whose summary has not come. */
  #boundary: JsonLine | undefined

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfLine)
  }

  *read(line: SourceLine): Generator<Entry, void, undefined> {
    const type = line.value?.["type"]
    if (line.value !== undefined && type === "summary" && this.#boundary !== undefined) {
      yield this.#compaction(this.#boundary, line)
      this.#boundary = undefined
      return
    }
    yield* this.end()
    if (line.value === undefined) yield this.#log.addUnreadable(line)
    else if (type === "compact-boundary") this.#boundary = line
    else yield (type === "message" ? this.#message(line) : this.#described(line)) ?? this.#aside(line)
  }

  /** A boundary that no summary follows changes nothing. */
  *end(): Generator<Entry, void, undefined> {
    if (this.#boundary === undefined) return
    yield this.#aside(this.#boundary)
    this.#boundary = undefined
  }

  #message(line: JsonLine): Entry | undefined {
    const message = messageOf(fieldsOf(line.value["message"]), this.#toolNames)
    return message && this.#add([line], { type: "message", message }, placeOf(line.value))
  }

  /** Kept messages follow as copies: the compaction itself keeps none. */
  #compaction(boundary: JsonLine, line: JsonLine): Entry {
    const summary = stringOf(fieldsOf(line.value["message"])["content"]) ?? ""
    const id = stringOf(line.value["uuid"]) ?? `compaction-${line.at}`
    const fields = { summary, firstKeptEntryId: id, tokensBefore: 0, readFiles: [], modifiedFiles: [] }
    return this.#add([boundary, line], { type: "compaction", ...fields }, { id })
  }

  #described(line: JsonLine): Entry | undefined {
    const { type, customTitle, title, key, value } = line.value
    const name = customTitle ?? title
    if (type === "custom-title" && typeof name === "string") {
      return this.#add([line], { type: "title_change", title: name, source: "user" })
    }
    return type === "metadata" && typeof key === "string" && value !== undefined
      ? this.#add([line], { type: "metadata", key, value })
      : undefined
  }

  #aside(line: JsonLine): Entry {
    const type = stringOf(line.value["type"]) ?? "line"
    return this.#add([line], { type: "custom", customType: `${FORMAT}/${type}`, data: line.value })
  }

  #add(lines: readonly JsonLine[], payload: Payload, place: Place = {}): Entry {
    const at = lines.map((line) => line.at)
    const records = lines.map(({ value }) => value)
    const timestamp = timestampOf(records.at(-1)?.["timestamp"])
    return this.#log.add(payload, {
      ...place,
      at: at[0],
      timestamp,
      source: (entry) => sourceOf(at, records, encode(entry)),
    })
  }
}

/** noumen writes no parents: a line without one continues the line before it. */
function placeOf({ uuid, parentUuid }: Fields): Place {
  return { id: stringOf(uuid), ...(typeof parentUuid === "string" ? { parentId: parentUuid } : {}) }
}

function messageOf(message: Fields, toolNames: Map<string, string>): Fields | undefined {
  const { role, content, tool_calls: calls, tool_call_id: toolCallId } = message
  const blocks = blocksOf(content)
  if (blocks === undefined) return undefined
  if (role === "user" || role === "system") return { role, content: blocks }
  if (role === "assistant") return { role, content: [...blocks, ...callsOf(calls, toolNames)] }
  if (role !== "tool" || typeof toolCallId !== "string") return undefined
  const toolName = toolNames.get(toolCallId)
  const name = toolName === undefined ? {} : { toolName }
  return { role: "toolResult", toolCallId, ...name, isError: message["isError"] === true, content: blocks }
}

function blocksOf(content: unknown): readonly ContentBlock[] | undefined {
  if (content === null || content === undefined || content === "") return []
  if (typeof content === "string") return [textBlock(content)]
  if (!Array.isArray(content)) return undefined
  const texts = (content as readonly unknown[]).map((part) => stringOf(fieldsOf(part)["text"]))
  return texts.every((text) => text !== undefined) ? texts.map(textBlock) : undefined
}

function callsOf(calls: unknown, toolNames: Map<string, string>): readonly ContentBlock[] {
  if (!Array.isArray(calls)) return []
  return (calls as readonly unknown[]).flatMap((call) => {
    const { id, function: called } = fieldsOf(call)
    const { name, arguments: args } = fieldsOf(called)
    if (typeof id !== "string" || typeof name !== "string") return []
    toolNames.set(id, name)
    return [{ type: "toolCall", id, name, arguments: argumentsOfCall(args) }]
  })
}
