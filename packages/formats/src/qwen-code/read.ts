/** Reads a chat of Qwen Code: a tree of lines by `uuid` and `parentUuid`, of which the last one is the leaf. */
import type { Entry, Header } from "@sessions/core"
import { type Source, sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { LogBuilder, type Payload } from "../base/log-builder.ts"
import { type Fields, fieldsOf, isObject, stringOf, timestampOf } from "../base/values.ts"
import { encode, FORMAT } from "./codec.ts"
import { HEADER_LINES, headerOfLines } from "./header.ts"
import { joined, messagesOf, partsOf } from "./messages.ts"
import { isSent, kindOfLine } from "./record-types.ts"

export async function* read({ main }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  let chat: Chat | undefined
  const first: SourceLine[] = []
  for await (const lines of readJsonLines(main, note)) {
    for (const line of lines) {
      if (chat !== undefined) {
        yield* chat.take(line)
        continue
      }
      first.push(line)
      if (first.length < HEADER_LINES) continue
      chat = yield* begun(first, note)
    }
  }
  chat ??= yield* begun(first, note)
  yield* chat.end()
}

async function* begun(lines: readonly SourceLine[], note: Note): AsyncGenerator<Header | Entry, Chat, undefined> {
  const header = await headerOfLines(lines)
  yield header
  const chat = new Chat(header, note)
  for (const line of lines) yield* chat.take(line)
  return chat
}

class Chat {
  /** Keeps of the first entry of a line the id of its last one, which the lines below it continue. */
  readonly #log: LogBuilder<string>
  readonly #note: Note
  readonly #isSubagent: boolean
  readonly #toolNames = new Map<string, string>()
  /** Lines with one `uuid`: parts of one message. */
  #open: JsonLine[] = []
  /** The last message, if it is a text of the user and no other, while only lines of the system follow it. */
  #said: { readonly id: string; readonly text: string } | undefined
  #leaf: string | null = null
  #title: string | undefined

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfLine)
    this.#note = note
    this.#isSubagent = header.kind === "subagent"
  }

  *take(line: SourceLine): Generator<Entry, void, undefined> {
    const { value } = line
    const uuid = this.#open[0]?.value["uuid"]
    if (value !== undefined && uuid !== undefined && uuid === value["uuid"] && isMessage(value)) {
      this.#open.push(line)
      return
    }
    yield* this.#close()
    if (value === undefined) yield this.#log.addUnreadable(line)
    else if (isMessage(value)) this.#open = [line]
    else yield* this.#system(line)
  }

  *end(): Generator<Entry, void, undefined> {
    yield* this.#close()
    const leaf = this.#log.end(this.#leaf)
    if (leaf !== undefined) yield leaf
  }

  *#close(): Generator<Entry, void, undefined> {
    const lines = this.#open
    const [line] = lines
    if (line === undefined) return
    this.#open = []
    const record = joined(lines)
    const id = record["uuid"] as string
    if (this.#log.has(id)) {
      const message = `In line ${line.at}, a line has the uuid ${id} of an earlier one, and is kept aside.`
      this.#note({ code: "duplicate_id", entryId: id, message })
      for (const one of lines) yield this.#aside(one, { parentId: undefined })
      return
    }
    const messages = isSent(record) ? messagesOf(record, id, this.#toolNames) : []
    if (messages.length === 0) for (const one of lines) yield this.#aside(one)
    else
      yield* this.#add(
        lines,
        messages.map((message) => ({ type: "message", message })),
      )
    if (messages.length > 0) this.#said = saidIn(record, id)
  }

  *#system(line: JsonLine): Generator<Entry, void, undefined> {
    const { subtype, systemPayload } = line.value
    const payload = fieldsOf(systemPayload)
    const isSystem = line.value["type"] === "system"
    const title = stringOf(payload["customTitle"])
    const { compressedHistory: history } = payload
    const said = this.#said
    if (isSystem && (subtype === "slash_command" || subtype === "chat_compression")) this.#said = undefined
    if (isSystem && subtype === "custom_title" && title !== undefined && title !== this.#title) {
      this.#title = title
      const source = payload["titleSource"] === "auto" ? "auto" : "user"
      yield* this.#add([line], [{ type: "title_change", title, source }])
    } else if (isSystem && subtype === "chat_compression" && Array.isArray(history))
      yield* this.#add([line], this.#compressed(history, line.at))
    else if (isSystem && subtype === "slash_command" && said !== undefined && isLocal(payload, said.text))
      yield* this.#add([line], [{ type: "context_edit", targetId: said.id, replacement: null }])
    else yield this.#aside(line)
  }

  /** From here on the agent sends these contents: the summary and what it keeps. No person said them here. */
  #compressed(history: readonly unknown[], at: number): readonly Payload[] {
    const messages = history.flatMap((content, i) => messagesOf({ message: content }, `${at}:${i}`, this.#toolNames))
    return [
      { type: "reset_boundary" },
      ...messages.map((message, i) => ({
        type: "message",
        message:
          message["role"] !== "user" ? message : { ...message, synthetic: true, ...(i === 0 ? { summary: true } : {}) },
      })),
    ]
  }

  #aside(line: JsonLine, place = this.#placeOf(line.value)): Entry {
    const { type, subtype } = line.value
    const name = [type, subtype].filter((one) => typeof one === "string").join("/")
    const entry = this.#log.add(
      { type: "custom", customType: `${FORMAT}/${name === "" ? "line" : name}`, data: line.value },
      { ...place, at: line.at, timestamp: timestampOf(line.value["timestamp"]), source: this.#source([line]) },
    )
    this.#move(line.value, entry)
    return entry
  }

  /** The first entry has the lines as its source; the others follow from it, and from each other. */
  *#add(lines: readonly JsonLine[], payloads: readonly Payload[]): Generator<Entry, void, undefined> {
    const [{ at, value } = { at: 0, value: {} }] = lines
    const timestamp = timestampOf(value["timestamp"])
    let first: string | undefined
    for (const [i, payload] of payloads.entries()) {
      const place = i === 0 ? this.#placeOf(value) : { id: this.#free(`${first}:${i}`) }
      const source = i === 0 ? this.#source(lines) : { at: [] }
      const entry = this.#log.add(payload, { ...place, at, timestamp, source })
      first ??= entry.id
      const node = this.#log.node(first)
      if (node !== undefined) node.kept = entry.id
      this.#move(value, entry)
      yield entry
    }
  }

  #free(id: string): string | undefined {
    return this.#log.has(id) ? undefined : id
  }

  #source(lines: readonly JsonLine[]): (entry: Entry) => Source {
    return (entry) =>
      sourceOf(
        lines.map(({ at }) => at),
        lines.map(({ value }) => value),
        encode(entry),
      )
  }

  #placeOf({ uuid, parentUuid }: Fields): {
    readonly id?: string | undefined
    readonly parentId?: string | null | undefined
  } {
    const id = stringOf(uuid)
    if (parentUuid === null) return { id, parentId: null }
    return {
      id,
      parentId: typeof parentUuid === "string" ? (this.#log.node(parentUuid)?.kept ?? parentUuid) : undefined,
    }
  }

  /** The agent goes on at the last line, apart from those that are beside the conversation. */
  #move({ type, subtype, isSidechain }: Fields, { id, parentId, type: entryType }: Entry): void {
    const isBeside = type === "system" && typeof subtype === "string" && BESIDE.has(subtype)
    if (isBeside || (isSidechain === true) !== this.#isSubagent) return
    this.#leaf = entryType === "title_change" ? parentId : id
  }
}

const BESIDE: ReadonlySet<string> = new Set([
  "session_artifact_event",
  "session_artifact_snapshot",
  "session_sources_snapshot",
  "managed_session_header_v1",
  "managed_session_event_v1",
  "managed_session_commit_v1",
])

function isMessage({ type, uuid, message }: Fields): boolean {
  return typeof type === "string" && MESSAGES.has(type) && typeof uuid === "string" && isObject(message)
}

const MESSAGES: ReadonlySet<string> = new Set(["user", "assistant", "tool_result"])

function saidIn(record: Fields, id: string): { readonly id: string; readonly text: string } | undefined {
  const [part, ...more] = partsOf(record["message"])
  const isText = part !== undefined && more.length === 0 && Object.keys(part).length === 1
  const text = record["type"] === "user" && record["subtype"] === undefined && isText ? part["text"] : undefined
  return typeof text === "string" ? { id, text } : undefined
}

/** A command of the user that the agent itself answered. Neither is sent to the model. */
function isLocal({ phase, sentToModel, outputHistoryItems: items, rawCommand }: Fields, text: string): boolean {
  if (phase !== "result" || sentToModel === true || rawCommand !== text || !Array.isArray(items)) return false
  return items.length > 0 && (items as readonly unknown[]).every((item) => fieldsOf(item)["type"] === "assistant")
}
