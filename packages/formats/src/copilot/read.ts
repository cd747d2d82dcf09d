/** Reads the events of a session of Copilot: one entry for each event, except that a response in several parts is one message. */
import type { Entry, Header, ImageBlock } from "@sessions/core"
import { sha256Hex } from "@sessions/core/storage"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { sessionIdOf } from "../base/ids.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { headerOf, LogBuilder, type Payload, type Place } from "../base/log-builder.ts"
import { type Fields, fieldsOf, numberOf, stringOf, textBlock, timestampOf } from "../base/values.ts"
import { encode, FORMAT } from "./codec.ts"
import { assistantMessage, imageOf, PROVIDER, toolResult, userMessage } from "./messages.ts"
import { UsageDifferences } from "./usage.ts"
import { kindOfEvent } from "./record-types.ts"

/** The version of `encode`. */
const VERSION = 1

/** The lines in which the beginning of a session is looked for. */
const HEADER_LINES = 50

export async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let events: Events | undefined
  const before: SourceLine[] = []
  for await (const lines of readJsonLines(main, note)) {
    for (const line of lines) {
      if (events !== undefined) {
        await events.learn(line)
        yield* events.read(line)
        continue
      }
      before.push(line)
      if (line.value?.["type"] !== "session.start" && before.length < HEADER_LINES) continue
      const header = await headerOfLines(before)
      yield header
      events = new Events(header, note)
      for (const first of before) {
        await events.learn(first)
        yield* events.read(first)
      }
    }
  }
  if (events !== undefined) yield* events.end()
}

async function headerOfLines(lines: readonly SourceLine[]): Promise<Header> {
  const last = lines.at(-1)?.value
  const data = last?.["type"] === "session.start" ? fieldsOf(last["data"]) : {}
  const times = [data["startTime"], ...lines.map(({ value }) => value?.["timestamp"])]
  const timestamp = times.map(timestampOf).find((time) => time !== undefined) ?? new Date(0).toISOString()
  const cwd = stringOf(fieldsOf(data["context"])["cwd"])
  const parent = stringOf(data["detachedFromSpawningParentSessionId"])
  const id = stringOf(data["sessionId"])
  const more = {
    ...(cwd === undefined ? {} : { cwd }),
    ...(parent === undefined ? {} : { parentSession: { id: await sessionIdOf(FORMAT, parent) } }),
  }
  return headerOf({ format: FORMAT, version: VERSION, id, timestamp }, more)
}

/** Events with the text of a skill, which those that end in `_ref` name. */
const SKILLS: ReadonlySet<unknown> = new Set(["skill.invoked", "skill.context_delivered"])

class Events {
  readonly #log: LogBuilder
  readonly #usage = new UsageDifferences()
  readonly #toolNames = new Map<string, string>()
  readonly #assets = new Map<string, ImageBlock>()
  /** The texts of skills by their ids: later events name a text that was there. */
  readonly #skills = new Map<string, string>()
  readonly #parents = new Map<string, string | null>()
  /** The parts of a response that is not complete. */
  #parts: JsonLine[] = []
  /** The first message after the last compaction began, which runs beside the conversation. */
  #firstKept: string | undefined
  #isCompacting = false

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfEvent)
  }

  /** Keeps the text of a skill. Those of subagents are in the same file, and may be named as well. */
  async learn({ value }: SourceLine): Promise<void> {
    if (value === undefined || !SKILLS.has(value["type"])) return
    const text = stringOf(fieldsOf(value["data"])["content"])
    if (text !== undefined) this.#skills.set(`sha256:${await sha256Hex(text)}`, text)
  }

  *read(line: SourceLine): Generator<Entry, void, undefined> {
    if (line.value === undefined) {
      yield this.#log.addUnreadable(line)
      return
    }
    const data = fieldsOf(line.value["data"])
    // Events of a subagent are in the file of its parent.
    const isOfOther = typeof line.value["agentId"] === "string" || typeof data["parentToolCallId"] === "string"
    if (isOfOther) yield this.#aside(line)
    else yield* this.#event(line, data)
  }

  *end(): Generator<Entry, void, undefined> {
    yield* this.#response()
  }

  *#event(line: JsonLine, data: Fields): Generator<Entry, void, undefined> {
    switch (line.value["type"]) {
      case "user.message":
        yield* this.#response()
        yield this.#message([line], userMessage(data, this.#assets))
        return
      case "assistant.message":
        yield* this.#part(line, data)
        return
      case "tool.execution_complete":
        yield* this.#response()
        yield this.#result(line, data)
        return
      case "skill.context_delivered":
      case "skill.context_delivered_ref":
        yield* this.#response()
        yield this.#skill(line, data)
        return
      case "system.message":
        yield this.#add([line], { type: "session_init", systemPrompt: stringOf(data["content"]) ?? "", tools: [] })
        return
      case "session.model_change":
        yield this.#ifText(line, data["newModel"], (model) => ({ type: "model_change", provider: PROVIDER, model }))
        return
      case "session.title_changed":
        yield this.#ifText(line, data["title"], (title) => ({ type: "title_change", title, source: "auto" }))
        return
      case "session.compaction_start":
        this.#isCompacting = true
        this.#firstKept = undefined
        yield this.#aside(line)
        return
      case "session.compaction_complete":
        yield* this.#response()
        yield this.#compaction(line, data)
        return
      case "session.context_cleared":
        yield* this.#response()
        yield* this.#cleared(line, data)
        return
      case "session.snapshot_rewind":
        yield* this.#response()
        yield this.#rewind(line, data)
        return
      case "session.shutdown":
        yield* this.#response()
        yield* this.#shutdown(line, data)
        return
      case "session.binary_asset":
        this.#keepAsset(data)
        yield this.#aside(line)
        return
      default:
        yield this.#aside(line)
    }
  }

  /** A part of a response; the last one completes it. */
  *#part(line: JsonLine, data: Fields): Generator<Entry, void, undefined> {
    const count = numberOf(data["chunkCount"]) ?? 1
    const index = numberOf(data["chunkIndex"]) ?? 0
    const first = fieldsOf(this.#parts[0]?.value["data"])
    if (this.#parts.length > 0 && first["apiCallId"] !== data["apiCallId"]) yield* this.#response()
    this.#parts.push(line)
    if (index + 1 >= count) yield* this.#response()
  }

  *#response(): Generator<Entry, void, undefined> {
    const lines = this.#parts
    if (lines.length === 0) return
    this.#parts = []
    const message = assistantMessage(lines.map(({ value }) => fieldsOf(value["data"])))
    for (const { type, id, name } of message["content"] as readonly Fields[]) {
      if (type === "toolCall") this.#toolNames.set(id as string, name as string)
    }
    yield this.#message(lines, message)
  }

  #result(line: JsonLine, data: Fields): Entry {
    const toolName = this.#toolNames.get(stringOf(data["toolCallId"]) ?? "")
    // The user may run a tool as well: no message of the model has the call.
    return toolName === undefined ? this.#aside(line) : this.#message([line], toolResult(data, toolName, this.#assets))
  }

  /** What the model gets of a skill that it asked for: it is sent behind the result, which does not have it. */
  #skill(line: JsonLine, data: Fields): Entry {
    const { contentId, content, prefix, suffix } = data
    const text = this.#skills.get(stringOf(contentId) ?? "")
    const named = text === undefined ? undefined : `${stringOf(prefix) ?? ""}${text}${stringOf(suffix) ?? ""}`
    const said = stringOf(content) ?? named
    return said === undefined
      ? this.#aside(line)
      : this.#message([line], userMessage({ content: said, source: data["source"] ?? "skill" }, this.#assets))
  }

  #message(lines: readonly JsonLine[], message: Fields): Entry {
    const entry = this.#add(lines, { type: "message", message })
    if (this.#isCompacting) this.#firstKept ??= entry.id
    return entry
  }

  #compaction(line: JsonLine, data: Fields): Entry {
    const summary = data["summaryContent"]
    const firstKept = this.#firstKept
    this.#isCompacting = false
    if (data["success"] !== true || typeof summary !== "string") return this.#aside(line)
    const id = stringOf(line.value["id"]) ?? `compaction-${line.at}`
    const tokensBefore = numberOf(data["preCompactionTokens"]) ?? 0
    const payload = { summary, firstKeptEntryId: firstKept ?? id, tokensBefore, readFiles: [], modifiedFiles: [] }
    return this.#add([line], { type: "compaction", ...payload }, { id })
  }

  *#cleared(line: JsonLine, { initialMessage: text }: Fields): Generator<Entry, void, undefined> {
    yield this.#add([line], { type: "reset_boundary" })
    if (typeof text !== "string") return
    const message = { role: "user", content: [textBlock(text)], synthetic: true }
    yield this.#log.add({ type: "message", message }, { source: { at: [] } })
  }

  #rewind(line: JsonLine, { upToEventId: id }: Fields): Entry {
    const parentId = typeof id === "string" ? this.#parents.get(id) : undefined
    return parentId === undefined ? this.#aside(line) : this.#add([line], { type: "leaf" }, { parentId })
  }

  *#shutdown(line: JsonLine, data: Fields): Generator<Entry, void, undefined> {
    let isHeld = false
    for (const { model, usage } of this.#usage.since(fieldsOf(data["modelMetrics"]))) {
      const payload = { type: "usage", kind: "session", provider: PROVIDER, model, usage }
      yield isHeld ? this.#log.add(payload, { source: { at: [] } }) : this.#add([line], payload)
      isHeld = true
    }
    if (!isHeld) yield this.#aside(line)
  }

  #keepAsset(data: Fields): void {
    const image = imageOf(data)
    if (typeof data["assetId"] === "string" && image !== undefined) this.#assets.set(data["assetId"], image)
  }

  #ifText(line: JsonLine, text: unknown, payloadOf: (text: string) => Payload): Entry {
    return typeof text === "string" ? this.#add([line], payloadOf(text)) : this.#aside(line)
  }

  /** Keeps an event without a meaning for the conversation. */
  #aside(line: JsonLine): Entry {
    const type = stringOf(line.value["type"]) ?? "event"
    return this.#add([line], { type: "custom", customType: `${FORMAT}/${type}`, data: line.value })
  }

  #add(lines: readonly JsonLine[], payload: Payload, place: Place = {}): Entry {
    const at = lines.map((line) => line.at)
    const records = lines.map(({ value }) => value)
    const { id, timestamp } = records[0] ?? {}
    const entry = this.#log.add(payload, {
      id: stringOf(id),
      ...place,
      at: at[0],
      timestamp: timestampOf(timestamp),
      source: (added) =>
        sourceOf(
          at,
          records,
          records.map(() => encode(added)),
        ),
    })
    for (const record of records) {
      if (typeof record["id"] === "string") this.#parents.set(record["id"], entry.parentId)
    }
    return entry
  }
}
