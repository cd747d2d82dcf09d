/** Reads a session of Cersei: the lines of all parts in order, as one log. Tombstones are written where their targets are known. */
import type { Entry, Header } from "@sessions/core"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { headerOf, LogBuilder, type Payload, type Place } from "../base/log-builder.ts"
import { type Fields, fieldsOf, stringOf, timestampOf } from "../base/values.ts"
import { blocksOf, isToolResult, resultOf } from "../claude-code/blocks.ts"
import { encode, FORMAT } from "./codec.ts"
import { kindOfLine } from "./record-types.ts"

/** The version of `encode`. */
const VERSION = 1

/** The lines in which the session's id is looked for. */
const HEADER_LINES = 50

export async function* read(source: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let transcript: Transcript | undefined
  const before: SourceLine[] = []
  for await (const lines of readJsonLines(partsOf(source), note)) {
    for (const line of lines) {
      if (transcript !== undefined) {
        yield* transcript.read(line)
        continue
      }
      before.push(line)
      if (typeof line.value?.["session_id"] !== "string" && before.length < HEADER_LINES) continue
      const header = headerOfLines(before)
      yield header
      transcript = new Transcript(header, note)
      for (const first of before) yield* transcript.read(first)
    }
  }
  if (transcript !== undefined) yield* transcript.end()
}

/** The text of all parts. A part that does not end with a line feed ends its last line nevertheless. */
async function* partsOf({ main, beside }: ReadSource): AsyncGenerator<string, void, undefined> {
  let part: AsyncIterable<Uint8Array | string> | undefined = main
  for (let n = 2; part !== undefined; n++) {
    const decoder = new TextDecoder()
    let last = "\n"
    for await (const piece of part) {
      const text = typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })
      yield text
      last = text.at(-1) ?? last
    }
    const rest = decoder.decode()
    if (rest !== "") yield rest
    last = rest.at(-1) ?? last
    part = beside(`_part${n}`)
    if (part !== undefined && last !== "\n") yield "\n"
  }
}

function headerOfLines(lines: readonly SourceLine[]): Header {
  const times = lines.map(({ value }) => timestampOf(value?.["timestamp"]))
  const timestamp = times.find((time) => time !== undefined) ?? new Date(0).toISOString()
  const cwd = lines.map(({ value }) => stringOf(value?.["cwd"])).find((found) => found !== undefined)
  const id = stringOf(lines.at(-1)?.value?.["session_id"])
  return headerOf({ format: FORMAT, version: VERSION, id, timestamp }, cwd === undefined ? {} : { cwd })
}

class Transcript {
  readonly #log: LogBuilder
  readonly #toolNames = new Map<string, string>()
  /** The entries of each line that became several, by its uuid. */
  readonly #several = new Map<string, string[]>()
  /** Tombstones that stand before their targets. */
  readonly #early: JsonLine[] = []

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfLine)
  }

  *read(line: SourceLine): Generator<Entry, void, undefined> {
    if (line.value === undefined) {
      yield this.#log.addUnreadable(line)
      return
    }
    const { type, deleted_uuid: deleted } = line.value
    if (type === "tombstone" && typeof deleted === "string" && !this.#log.has(deleted)) this.#early.push(line)
    else if (type === "tombstone" && typeof deleted === "string") yield* this.#tombstones(line, deleted)
    else if (type === "summary") yield this.#compaction(line)
    else yield* this.#messages(line)
  }

  /** A tombstone whose target never came has no effect. */
  *end(): Generator<Entry, void, undefined> {
    for (const line of this.#early) {
      const target = stringOf(line.value["deleted_uuid"]) ?? ""
      if (this.#log.has(target)) yield* this.#tombstones(line, target)
      else yield this.#aside(line)
    }
  }

  /** Deletes all entries of a line. */
  *#tombstones(line: JsonLine, deleted: string): Generator<Entry, void, undefined> {
    yield this.#add(line, { type: "tombstone", targetId: deleted })
    for (const targetId of this.#several.get(deleted)?.slice(1) ?? [])
      yield this.#log.add({ type: "tombstone", targetId }, { source: { at: [] } })
  }

  /** It keeps what follows it: the messages before it are summarized. */
  #compaction(line: JsonLine): Entry {
    const id = stringOf(line.value["uuid"]) ?? `summary-${line.at}`
    const summary = stringOf(line.value["summary"]) ?? ""
    const fields = { summary, firstKeptEntryId: id, tokensBefore: 0, readFiles: [], modifiedFiles: [] }
    return this.#add(line, { type: "compaction", ...fields }, { ...this.#placeOf(line.value), id })
  }

  *#messages(line: JsonLine): Generator<Entry, void, undefined> {
    const [first, ...others] = messagesOf(line.value, this.#toolNames)
    if (first === undefined) {
      yield this.#aside(line)
      return
    }
    const place = this.#placeOf(line.value)
    const entry = this.#add(line, { type: "message", message: first }, place)
    yield entry
    const ids = [entry.id]
    for (const message of others) {
      const id = `${entry.id}:${ids.length}`
      const other = this.#log.add({ type: "message", message }, { id, source: { at: [] } })
      ids.push(other.id)
      yield other
    }
    if (ids.length > 1) this.#several.set(entry.id, ids)
  }

  #aside(line: JsonLine): Entry {
    const type = stringOf(line.value["type"]) ?? "line"
    return this.#add(line, { type: "custom", customType: `${FORMAT}/${type}`, data: line.value })
  }

  /** A line without a parent continues the line before it. */
  #placeOf({ uuid, parent_uuid: parent }: Fields): Place {
    const parentId = stringOf(parent)
    return {
      id: stringOf(uuid),
      ...(parentId === undefined ? {} : { parentId: this.#several.get(parentId)?.at(-1) ?? parentId }),
    }
  }

  #add(line: JsonLine, payload: Payload, place: Place = {}): Entry {
    const { at, value } = line
    const timestamp = timestampOf(value["timestamp"])
    return this.#log.add(payload, {
      ...place,
      at,
      timestamp,
      source: (entry) => sourceOf([at], [value], encode(entry)),
    })
  }
}

/** The messages of a line; its results of tools come first, each as one. None: it is no message. */
function messagesOf(line: Fields, toolNames: Map<string, string>): readonly Fields[] {
  const { role = line["type"], content } = fieldsOf(line["message"])
  if (typeof content !== "string" && !Array.isArray(content)) return []
  if (role !== "user" && role !== "assistant" && role !== "system") return []
  const list: readonly unknown[] = Array.isArray(content) ? content : []
  const results = list.filter(isToolResult).map((block) => resultOf(block, toolNames.get(String(block["tool_use_id"]))))
  const blocks = blocksOf(typeof content === "string" ? content : list.filter((block) => !isToolResult(block)))
  for (const block of blocks) if (block.type === "toolCall") toolNames.set(block.id, block.name)
  const isOnlyResults = results.length > 0 && blocks.length === 0
  return [...results, ...(isOnlyResults ? [] : [{ role, content: blocks }])] as readonly object[] as readonly Fields[]
}
