/** Reads a rollout: its lines become the entries of a log, in order, except that a reasoning waits for the item that it belongs to. */
import type { ContentBlock, Entry, Header } from "@sessions/core"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { sessionIdOf } from "../base/ids.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { lostHistory } from "../base/lost-history.ts"
import { headerOf, LogBuilder, type Payload, type Place } from "../base/log-builder.ts"
import {
  type Fields,
  fieldsOf,
  isObject,
  jsonOf,
  numberOf,
  stringOf,
  textBlock,
  textOf,
  timestampOf,
} from "../base/values.ts"
import { AGENT_MESSAGE, encode, FORMAT, ITEM, KEPT } from "./codec.ts"
import { folderOfItem, joinedDocument, lineOfToday, linesOfDocument } from "./older.ts"
import { rolloutName, SESSION_INDEX } from "./place.ts"
import { blocksOf, messageOfItem, type Thinking, thinkingOf } from "./items.ts"
import { keptTexts, Turns } from "./turns.ts"
import { UsageReader } from "./usage.ts"
import { kindOfLine } from "./record-types.ts"

/** Codex has no version of its format. This one counts the versions of `encode`. */
const VERSION = 1

/** The first words of the summary that Codex writes. */
const SUMMARY_START = "Another language model started to solve this problem"

/** The line that says which session it is comes first, and the folder soon after; the number of lines that `identify` sees. */
const HEADER_LINES = 50

export async function* read({ main, beside }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let rollout: Rollout | undefined
  const before: SourceLine[] = []
  let meta: Fields | undefined
  let cwd: string | undefined
  const begin = async function* (): AsyncGenerator<Header | Entry, Rollout, undefined> {
    const header = await headerOfLines(before, { ...(cwd === undefined ? {} : { cwd }), ...meta }, beside)
    yield header
    const begun = new Rollout(header, note, meta ?? {})
    yield* inherited(begun, meta ?? {}, beside, note)
    for (const first of before) yield* begun.read(first)
    return begun
  }
  for await (const lines of readJsonLines(joinedDocument(main), note)) {
    for (const line of lines.flatMap((one): readonly SourceLine[] => linesOfDocument(one) ?? [one])) {
      if (rollout !== undefined) {
        yield* rollout.read(line)
        continue
      }
      before.push(line)
      const value = line.value && lineOfToday(line.value)
      if (value?.["type"] === "session_meta") meta ??= fieldsOf(value["payload"])
      cwd ??= stringOf(meta?.["cwd"]) ?? folderOfItem(fieldsOf(value?.["payload"]))
      if ((meta === undefined || cwd === undefined) && before.length < HEADER_LINES) continue
      rollout = yield* begin()
    }
  }
  if (rollout === undefined && meta !== undefined) rollout = yield* begin()
  if (rollout !== undefined) yield* rollout.end()
}

/**
 * The history of a fork, which is in the rollout of the thread that it was forked from, up to an ordinal. Its lines have numbers below 1, so
 * that they are no lines of this file.
 */
async function* inherited(
  rollout: Rollout,
  meta: Fields,
  beside: ReadSource["beside"],
  note: Note,
): AsyncGenerator<Entry, void, undefined> {
  const lines = await inheritedLines(meta, beside)
  if (lines === undefined) return
  if (lines.missing !== undefined) {
    const message = `The history of this session is in the rollout of the thread ${lines.missing}, which was not found: what was said before the fork is missing.`
    note({ code: "missing_parent", message })
    yield rollout.lost(message)
  }
  for (const [i, value] of lines.values.entries()) yield* rollout.read({ at: i - lines.values.length + 1, value })
  yield* rollout.end()
}

interface Inherited {
  readonly values: readonly Fields[]
  /** The thread whose rollout was not found. */
  readonly missing?: string
}

/** Undefined for a session that has its history itself. */
async function inheritedLines(
  { history_base: base }: Fields,
  beside: ReadSource["beside"],
  depth = 0,
): Promise<Inherited | undefined> {
  const thread = stringOf(fieldsOf(base)["thread_id"])
  const end = numberOf(fieldsOf(base)["end_ordinal_exclusive"]) ?? Number.POSITIVE_INFINITY
  if (thread === undefined) return undefined
  const file = depth < MAX_FORKS ? beside(rolloutName(thread)) : undefined
  if (file === undefined) return { values: [], missing: thread }
  const values: Fields[] = []
  let before: Inherited | undefined
  for await (const lines of readJsonLines(decoded(file), () => undefined)) {
    for (const { value } of lines) {
      if (value === undefined) continue
      const { type, payload, ordinal } = value
      if (type === "session_meta") before ??= await inheritedLines(fieldsOf(payload), beside, depth + 1)
      else if ((numberOf(ordinal) ?? 0) < end) values.push(value)
    }
  }
  return { ...before, values: [...(before?.values ?? []), ...values] }
}

/** A fork of a fork of a fork: a circle ends. */
const MAX_FORKS = 100

async function* decoded(file: AsyncIterable<Uint8Array | string>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for await (const piece of file) yield typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })
}

async function headerOfLines(
  lines: readonly SourceLine[],
  meta: Fields,
  beside: ReadSource["beside"],
): Promise<Header> {
  const times = [meta["timestamp"], ...lines.map(({ value }) => value?.["timestamp"])]
  const timestamp = times.map(timestampOf).find((time) => time !== undefined) ?? new Date(0).toISOString()
  const id = stringOf(meta["id"])
  const cwd = stringOf(meta["cwd"])
  const parent = parentOf(meta)
  const title = id === undefined ? undefined : await nameOf(id, beside)
  return headerOf(
    { format: FORMAT, version: VERSION, id, timestamp },
    {
      ...(cwd === undefined ? {} : { cwd }),
      ...(title === undefined ? {} : { title }),
      ...(isObject(fieldsOf(meta["source"])["subagent"]) ? { kind: "subagent" } : {}),
      ...(parent === undefined ? {} : { parentSession: { id: await sessionIdOf(FORMAT, parent) } }),
    },
  )
}

/** The name of the session in the list of all names, where the last one counts. */
async function nameOf(id: string, beside: ReadSource["beside"]): Promise<string | undefined> {
  const file = beside(SESSION_INDEX)
  if (file === undefined) return undefined
  let name: string | undefined
  for await (const lines of readJsonLines(decoded(file), () => undefined))
    for (const { value } of lines)
      if (value?.["id"] === id && typeof value["thread_name"] === "string") name = value["thread_name"] || undefined
  return name
}

/** The session that this one was forked from, or whose subagent it is. */
function parentOf({ forked_from_id: forked, parent_thread_id: parent, source }: Fields): string | undefined {
  const spawn = fieldsOf(fieldsOf(fieldsOf(source)["subagent"])["thread_spawn"])
  return stringOf(forked) ?? stringOf(parent) ?? stringOf(spawn["parent_thread_id"])
}

interface Reasoning {
  readonly line: JsonLine
  readonly item: Fields
}

class Rollout {
  readonly #log: LogBuilder
  readonly #turns: Turns
  readonly #usage = new UsageReader()
  readonly #toolNames = new Map<string, string>()
  /** The texts of the users' messages so far: a compaction repeats them. */
  readonly #userTexts = new Set<string>()
  readonly #provider: string
  #model: string | undefined
  #reasoning: Reasoning[] = []
  /** Records so far. */
  #count = 0

  constructor(header: Header, note: Note, meta: Fields) {
    this.#log = new LogBuilder(header, note, kindOfLine)
    this.#turns = new Turns(this.#log)
    // Files without the field are older than other providers.
    this.#provider = stringOf(meta["model_provider"]) ?? "openai"
  }

  *read(line: SourceLine): Generator<Entry, void, undefined> {
    if (line.value === undefined) {
      yield this.#log.addUnreadable(line)
      return
    }
    this.#count++
    const today = lineOfToday(line.value)
    const payload = fieldsOf(today["payload"])
    switch (today["type"]) {
      case "response_item":
        yield* this.#item(line, payload)
        return
      case "compacted":
        yield* this.#flush()
        yield* this.#compacted(line, payload)
        return
      case "turn_context":
        yield this.#turnContext(line, payload)
        return
      case "token_usage_record":
        yield this.#usageOf(line, this.#usage.ofRecord(payload))
        return
      case "event_msg":
        yield* this.#event(line, payload)
        return
      default:
        yield this.#aside(line)
    }
  }

  *end(): Generator<Entry, void, undefined> {
    yield* this.#flush()
  }

  /** Says that a part of the history is not here. */
  lost(text: string, at = 0): Entry {
    return this.#log.add(lostHistory(FORMAT, text), { source: { at: [at] } })
  }

  /** An item that stands for the history before it, and that only the provider can read. */
  *#encrypted({ at, value }: JsonLine, items: readonly unknown[]): Generator<Entry, void, undefined> {
    const isEncrypted = items.some((item) => {
      const { type, encrypted_content: content } = fieldsOf(item)
      return COMPACTION_ITEMS.has(type) && typeof content === "string"
    })
    if (!isEncrypted) return
    const time = timestampOf(value["timestamp"])
    const before = time === undefined ? "before this point" : `before ${time}`
    yield this.lost(
      `The history ${before}, ${this.#count} records, is encrypted in what Codex goes on with, and cannot be read by other agents.`,
      at,
    )
  }

  /** An item of a `response_item` line or of a `compacted` line, which holds several. */
  *#item(line: JsonLine, item: Fields): Generator<Entry, void, undefined> {
    if (item["type"] === "reasoning") {
      this.#reasoning.push({ line, item })
      return
    }
    const message = messageOfItem(item, this.#toolNames)
    if (message?.["role"] !== "assistant") yield* this.#flush()
    if (message === undefined) {
      yield this.#otherItem(line, item)
      if (line.value["type"] !== "compacted") yield* this.#encrypted(line, [item])
    } else {
      this.#remember(message)
      yield message["role"] === "assistant" ? this.#assistant(line, message) : this.#message([line], message)
    }
  }

  /** Names of calls for their results, and texts of users for compactions. */
  #remember(message: Fields): void {
    const content = message["content"] as readonly Fields[]
    if (message["role"] === "user") this.#userTexts.add(keyOf(content))
    for (const { type, id, name } of content) {
      if (type === "toolCall") this.#toolNames.set(id as string, name as string)
    }
  }

  #assistant(line: JsonLine, message: Fields): Entry {
    const thinking: readonly Thinking[] = this.#reasoning.map(({ item }) => thinkingOf(item))
    const lines = [...this.#reasoning.map((reasoning) => reasoning.line), line]
    this.#reasoning = []
    const content = [...thinking, ...(message["content"] as readonly Fields[])]
    const model = this.#model === undefined ? {} : { provider: this.#provider, model: this.#model }
    return this.#message(lines, { ...message, content, ...model })
  }

  #message(lines: readonly JsonLine[], message: Fields): Entry {
    return this.#add(lines, { type: "message", message })
  }

  /** An item for the model that is no message of ours. */
  #otherItem(line: JsonLine, item: Fields): Entry {
    const content = item["type"] === "agent_message" ? blocksOf(item["content"]) : undefined
    if (content === undefined) return this.#aside(line, item)
    return this.#add([line], { type: "custom_message", customType: AGENT_MESSAGE, content, display: true })
  }

  /** A reasoning that no item of the assistant follows directly. */
  *#flush(): Generator<Entry, void, undefined> {
    const waiting = this.#reasoning
    this.#reasoning = []
    for (const { line, item } of waiting) yield this.#aside(line, item)
  }

  *#compacted(line: JsonLine, payload: Fields): Generator<Entry, void, undefined> {
    const summary = stringOf(payload["message"]) ?? ""
    const items = payload["replacement_history"]
    if (!Array.isArray(items)) {
      yield* this.#summarized(line, summary)
      return
    }
    yield this.#add([line], { type: "reset_boundary" })
    for (const item of (items as readonly unknown[]).filter(isObject)) yield* this.#replacement(line, item, summary)
    yield* this.#flush()
    yield* this.#encrypted(line, items)
  }

  *#replacement(line: JsonLine, item: Fields, summary: string): Generator<Entry, void, undefined> {
    const message = messageOfItem(item, this.#toolNames)
    if (message?.["role"] !== "user") {
      yield* this.#item(line, item)
      return
    }
    yield* this.#flush()
    const content = message["content"] as readonly ContentBlock[]
    const text = textOf(content)
    if (text.startsWith(SUMMARY_START) || (summary !== "" && text === summary)) {
      yield this.#message([line], { ...message, summary: true })
    } else if (this.#userTexts.has(keyOf(content))) {
      yield this.#kept(line, content)
    } else yield* this.#item(line, item)
  }

  /** A compaction of older versions, which repeat the last texts of users in front of the summary. */
  *#summarized(line: JsonLine, summary: string): Generator<Entry, void, undefined> {
    const id = `compacted-${line.at}`
    const kept = keptTexts(this.#turns.userTexts())
    const { totalTokens: tokensBefore } = this.#usage
    const payload = { summary, firstKeptEntryId: id, tokensBefore, readFiles: [], modifiedFiles: [] }
    yield this.#add([line], { type: "compaction", ...payload }, { id })
    for (const text of kept) yield this.#kept(line, [textBlock(text)])
  }

  #kept(line: JsonLine, content: readonly ContentBlock[]): Entry {
    return this.#add([line], { type: "custom_message", customType: KEPT, content, display: false })
  }

  #turnContext(line: JsonLine, { model }: Fields): Entry {
    if (typeof model !== "string" || model === this.#model) return this.#aside(line)
    this.#model = model
    return this.#add([line], { type: "model_change", provider: this.#provider, model })
  }

  *#event(line: JsonLine, payload: Fields): Generator<Entry, void, undefined> {
    switch (payload["type"]) {
      case "thread_rolled_back": {
        yield* this.#flush()
        const parentId = this.#turns.before(numberOf(payload["num_turns"]) ?? 0)
        yield parentId === undefined ? this.#aside(line) : this.#add([line], { type: "leaf" }, { parentId })
        return
      }
      case "token_count":
        yield this.#usageOf(line, this.#usage.ofCount(fieldsOf(payload["info"])))
        return
      case "thread_name_updated": {
        const title = stringOf(payload["thread_name"])
        const fields = { type: "title_change", title, source: "user" }
        yield title === undefined ? this.#aside(line) : this.#add([line], fields)
        return
      }
      default:
        yield this.#aside(line)
    }
  }

  #usageOf(line: JsonLine, usage: Fields | undefined): Entry {
    if (usage === undefined) return this.#aside(line)
    const model = this.#model === undefined ? {} : { provider: this.#provider, model: this.#model }
    return this.#add([line], { type: "usage", kind: "response", ...model, usage })
  }

  /** Keeps a line, or an item of a line that holds several, without a meaning for the conversation. */
  #aside(line: JsonLine, item?: Fields): Entry {
    if (item !== undefined && line.value["type"] === "compacted") {
      return this.#add([line], { type: "custom", customType: ITEM, data: item })
    }
    const type = stringOf(lineOfToday(line.value)["type"]) ?? "line"
    return this.#add([line], { type: "custom", customType: `${FORMAT}/${type}`, data: line.value })
  }

  #add(lines: readonly JsonLine[], payload: Payload, place: Place = {}): Entry {
    const at = [...new Set(lines.map((line) => line.at))]
    const records = lines.map(({ value }) => value)
    const timestamp = timestampOf(records.at(-1)?.["timestamp"])
    // The first entry of a compaction holds its line; the others only name it.
    const isHeld = records[0]?.["type"] === "compacted" && !COMPACTIONS.has(payload.type)
    const source = isHeld ? { at } : (entry: Entry) => sourceOf(at, records, encode(entry))
    const entry = this.#log.add(payload, { ...place, at: at[0], timestamp, source })
    this.#turns.add(entry)
    return entry
  }
}

/** Items that an agent compacts its history into. */
const COMPACTION_ITEMS: ReadonlySet<unknown> = new Set(["compaction", "compaction_summary", "context_compaction"])

const COMPACTIONS: ReadonlySet<string> = new Set(["compaction", "reset_boundary"])

/** The text that identifies a user's message when a compaction repeats it. */
function keyOf(content: readonly unknown[]): string {
  return textOf(content as readonly ContentBlock[]) || jsonOf(content)
}
