/** Reads the context of a Kimi CLI session: the messages that its model gets next, one a line, without ids and times. */
import type { Entry, Header } from "@sessions/core"
import { sha256Hex } from "@sessions/core/storage"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { sessionIdOf } from "../base/ids.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { headerOf, LogBuilder, type Payload } from "../base/log-builder.ts"
import { type Fields, jsonOf, stringOf } from "../base/values.ts"
import { factsBeside, type Prompt, promptText } from "./beside.ts"
import { encode, FORMAT } from "./codec.ts"
import { messageOf } from "./messages.ts"
import { kindOfRecord } from "./record-types.ts"

/** The version of `encode`. */
const VERSION = 1

export async function* read({ main, beside }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  const { id, parent, cwd, title, prompts } = await factsBeside(beside)
  const header = headerOf(
    { format: FORMAT, version: VERSION, id, timestamp: prompts[0]?.timestamp ?? new Date(0).toISOString() },
    {
      ...(cwd === undefined ? {} : { cwd }),
      ...(title === undefined ? {} : { title }),
      ...(parent === undefined ? {} : { kind: "subagent", parentSession: { id: await sessionIdOf(FORMAT, parent) } }),
    },
  )
  yield header
  const context = new Context(header, note, prompts)
  for await (const lines of readJsonLines(main, note)) {
    const entries: Entry[] = []
    for (const line of lines) entries.push(await context.entryOf(line))
    yield entries
  }
}

class Context {
  readonly #log: LogBuilder
  readonly #toolNames = new Map<string, string>()
  readonly #prompts: readonly Prompt[]
  /** The prompt that the next message of the user may be. */
  #next = 0
  #id = ""

  constructor(header: Header, note: Note, prompts: readonly Prompt[]) {
    this.#log = new LogBuilder(header, note, kindOfRecord)
    this.#prompts = prompts
  }

  async entryOf(line: SourceLine): Promise<Entry> {
    if (line.value === undefined) return this.#log.addUnreadable(line)
    this.#id = (await sha256Hex(`${this.#id}\n${jsonOf(line.value)}`)).slice(0, ID_DIGITS)
    const message = messageOf(line.value, this.#toolNames)
    if (message !== undefined) return this.#add(line, { type: "message", message }, this.#timeOf(message))
    const role = stringOf(line.value["role"]) ?? "record"
    return this.#add(line, { type: "custom", customType: `${FORMAT}/${role}`, data: line.value })
  }

  /**
   * The id follows from the record and from all before it: the agent writes the file anew when it goes back or compacts, and what is then
   * read again is known, while what differs is another branch.
   */
  #add({ at, value }: JsonLine, payload: Payload, timestamp?: string): Entry {
    return this.#log.add(payload, {
      id: this.#id,
      at,
      timestamp,
      source: (entry) => sourceOf([at], [value], encode(entry)),
    })
  }

  /** When the user said it. The answers to it are of the same time. */
  #timeOf({ role, content }: Fields): string | undefined {
    if (role !== "user") return undefined
    const text = promptText(content)
    const found = this.#prompts.findIndex((prompt, i) => i >= this.#next && prompt.text === text)
    if (found < 0) return undefined
    this.#next = found + 1
    return this.#prompts[found]?.timestamp
  }
}

/** 128 bits. */
const ID_DIGITS = 32
