/** Reads a chat of Gemini CLI. The file is held in memory: a later line may change a message, which has its last version from the beginning. */
import { type Entry, type Header, SessionError } from "@sessions/core"
import { type Source, sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { headerOf, LogBuilder } from "../base/log-builder.ts"
import { type Fields, isObject, stringOf, timestampOf } from "../base/values.ts"
import { encode, FORMAT } from "./codec.ts"
import { assistantMessage, responsesOf, toolCallsOf, toolResults, userMessage } from "./messages.ts"
import { PROJECT_ROOT } from "./place.ts"
import { type ListedMessage, type Step, stepsOf } from "./records.ts"
import { kindOfRecord } from "./record-types.ts"

/** The version of `encode`. */
const VERSION = 1

export async function* read({ main, beside }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  const lines = await linesOf(main, note)
  const header = headerOfLines(lines, await folderOf(beside))
  yield header
  const chat = new Chat(header, note)
  for (const step of stepsOf(lines)) yield* chat.take(step)
}

/** Older versions wrote one document, which counts as one line. */
async function linesOf(main: AsyncIterable<string>, note: Note): Promise<readonly SourceLine[]> {
  let text = ""
  for await (const piece of main) text += piece
  if (isJson(text.slice(0, text.indexOf("\n") + 1)) || !/^\s*\{\s*\n/.test(text)) {
    const lines: SourceLine[] = []
    for await (const some of readJsonLines(asPieces(text), note)) lines.push(...some)
    return lines
  }
  try {
    return [{ at: 1, value: JSON.parse(text) as Fields }]
  } catch (cause) {
    throw new SessionError("not_a_session", "The chat of Gemini CLI is one JSON document, and is incomplete.", {
      cause,
    })
  }
}

function isJson(line: string): boolean {
  try {
    return isObject(JSON.parse(line))
  } catch {
    return false
  }
}

async function* asPieces(text: string): AsyncGenerator<string, void, undefined> {
  yield text
}

/** The path in the file of the project, if the caller has that file. */
async function folderOf(beside: ReadSource["beside"]): Promise<string | undefined> {
  const file = beside(PROJECT_ROOT)
  if (file === undefined) return undefined
  const decoder = new TextDecoder()
  let path = ""
  for await (const piece of file) {
    path += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true })
    if (path.length > MAX_PATH) return undefined
  }
  return path.trim() === "" ? undefined : path.trim()
}

/** Longer than the paths of any system. */
const MAX_PATH = 65_536

function headerOfLines(lines: readonly SourceLine[], cwd: string | undefined): Header {
  const meta = lines.find(({ value }) => typeof value?.["sessionId"] === "string")?.value ?? {}
  const times = [meta["startTime"], ...lines.map(({ value }) => value?.["timestamp"])]
  const timestamp = times.map(timestampOf).find((time) => time !== undefined) ?? new Date(0).toISOString()
  const more = { ...(cwd === undefined ? {} : { cwd }), ...(meta["kind"] === "subagent" ? { kind: "subagent" } : {}) }
  return headerOf({ format: FORMAT, version: VERSION, id: stringOf(meta["sessionId"]), timestamp }, more)
}

class Chat {
  readonly #log: LogBuilder
  /** The last entry of each message, and how many calls have their results up to there. */
  readonly #ends = new Map<ListedMessage, { readonly leaf: string | null; readonly answers: number }>()
  /** Calls whose results have come, in this order: they may be in the record of the call, and again in one of the user. */
  readonly #answers: string[] = []
  readonly #answered = new Set<string>()
  #leaf: string | null = null

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfRecord)
  }

  *take(step: Step): Generator<Entry, void, undefined> {
    switch (step.kind) {
      case "message":
        yield* this.#message(step.message)
        this.#ends.set(step.message, { leaf: this.#leaf, answers: this.#answers.length })
        return
      case "line":
        yield this.#aside(step.line)
        return
      case "title":
        yield this.#log.add({ type: "title_change", title: step.title, source: "auto" }, { source: { at: [] } })
        return
      case "reset":
        this.#goBack({ leaf: null, answers: 0 })
        yield this.#log.add({ type: "reset_boundary" }, { source: { at: [] } })
        return
      case "cut":
        yield this.#cut(step)
    }
  }

  #aside(line: SourceLine): Entry {
    if (line.value === undefined) return this.#log.addUnreadable(line)
    const type = Object.keys(line.value).find((name) => name.startsWith("$")) ?? "session"
    return this.#custom(type, line.value, { at: [line.at] })
  }

  #cut({ last, line }: Step & { readonly kind: "cut" }): Entry {
    this.#goBack((last && this.#ends.get(last)) ?? { leaf: null, answers: 0 })
    const value = line?.value
    const source = line === undefined || value === undefined ? { at: [] } : sourceOf([line.at], [value], [{}])
    return this.#log.add({ type: "leaf" }, { parentId: this.#leaf, source })
  }

  /** What is no longer in the list has no results for the messages that replace it. */
  #goBack({ leaf, answers }: { readonly leaf: string | null; readonly answers: number }): void {
    this.#leaf = leaf
    for (const id of this.#answers.splice(answers)) this.#answered.delete(id)
  }

  #answer(id: string): void {
    if (!this.#answered.has(id)) this.#answers.push(id)
    this.#answered.add(id)
  }

  *#message({ id, record, lines }: ListedMessage): Generator<Entry, void, undefined> {
    const timestamp = timestampOf(record["timestamp"])
    const at = lines.map((line) => line.at)
    const records = lines.map(({ value }) => value)
    /** The first entry holds the lines; the others follow from it. */
    let isFirst = true
    const source = (): Source | ((entry: Entry) => Source) => {
      if (!isFirst || at.length === 0) return { at: [] }
      isFirst = false
      return (entry) =>
        sourceOf(
          at,
          records,
          records.map(() => encode(entry)),
        )
    }
    const messages = this.#messagesOf(record)
    for (const [i, message] of messages.entries()) {
      const wanted = i === 0 ? id : `${id}:${i}`
      // A message that was taken back and said again has a new id.
      const free = this.#log.has(wanted) ? undefined : wanted
      const entry = this.#log.add({ type: "message", message }, { id: free, at: at[0], timestamp, source: source() })
      this.#leaf = entry.id
      yield entry
    }
    if (messages.length > 0) return
    yield this.#custom(stringOf(record["type"]) ?? "record", record, source(), timestamp)
  }

  #messagesOf(record: Fields): readonly Fields[] {
    if (record["type"] === "gemini") {
      const results = toolResults(record)
      for (const { toolCallId } of results) this.#answer(toolCallId as string)
      return [assistantMessage(record), ...results]
    }
    if (record["type"] !== "user" || toolCallsOf(record).length > 0) return []
    const responses = responsesOf(record).filter(({ id }) => !this.#answered.has(id))
    for (const { id } of responses) this.#answer(id)
    const user = userMessage(record)
    return [...responses.map(({ message }) => message), ...(user === undefined ? [] : [user])]
  }

  #custom(type: string, data: Fields, source: Source | ((entry: Entry) => Source), timestamp?: string): Entry {
    return this.#log.add({ type: "custom", customType: `${FORMAT}/${type}`, data }, { timestamp, source })
  }
}
