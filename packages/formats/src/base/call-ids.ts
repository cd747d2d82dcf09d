/** Ids and names of tool calls in a file, as its readers take them. */
import type { ModelMessage } from "@sessions/core"
import type { Losses } from "./losses.ts"

/** What the API of a file takes. */
export interface CallRules {
  /** Characters that no id may have. Default: none. */
  readonly refused?: RegExp
  /** The longest id. Default: any. */
  readonly idLength?: number
  /** The longest name of a tool. */
  readonly nameLength: number
  /** The reader takes `<id>_2` for the id of a call that repeats `<id>`, and leaves out its result. */
  readonly takesNumbersForRepeats?: true
}

/** Of `call_id`: "Expected a string with maximum length 64", https://github.com/AnswerDotAI/fastllm/issues/45, 2026-06-08. */
export const RESPONSES_CALLS: CallRules = { idLength: 64, nameLength: 64 }

/** In no name of a tool: "does not match ^[a-zA-Z0-9_-]{1,64}$", OpenAI; the pattern of Anthropic has 128 in place of 64. */
const NOT_IN_NAMES = /[^a-zA-Z0-9_-]/g

/**
 * Ids of tool calls in a file. Those of a log may repeat, in one message and in later ones, and two may be the same in the form of the file; APIs
 * refuse calls with one id, and Claude Code leaves the second one out.
 */
export class CallIds {
  readonly #rules: CallRules
  readonly #used = new Set<string>()
  /** By the id in the log: the ids in the file, of the calls of the last message that has it. */
  readonly #calls = new Map<string, string[]>()

  constructor(rules: CallRules) {
    this.#rules = rules
  }

  /** A call that is in the file already. */
  saw(id: string): void {
    if (this.#used.has(id)) return
    this.#used.add(id)
    this.#calls.set(id, [id])
  }

  /** The ids in the file of the calls of one message. */
  ofMessage(ids: readonly string[]): readonly string[] {
    for (const id of ids) this.#calls.delete(id)
    return ids.map((id) => {
      const given = this.#newId(this.fit(id))
      this.#calls.set(id, [...(this.#calls.get(id) ?? []), given])
      return given
    })
  }

  /** The id in the file of the call that a result answers; undefined if the file has no such call. */
  ofResult(id: string): string | undefined {
    const calls = this.#calls.get(id)
    // Results of calls with one id are in the order of the calls.
    return calls !== undefined && calls.length > 1 ? calls.shift() : calls?.[0]
  }

  /** The name of a tool in the form of the file. */
  nameOf(name: string): string {
    return name.replaceAll(NOT_IN_NAMES, "_").slice(0, this.#rules.nameLength) || "unnamed"
  }

  /** The id in the form of the file. */
  fit(id: string): string {
    const { refused, idLength } = this.#rules
    return (refused === undefined ? id : id.replaceAll(refused, "_")).slice(0, idLength) || "call"
  }

  #newId(wanted: string): string {
    let id = wanted
    for (let n = 2; this.#isTaken(id); n++) {
      const suffix = `-${n}`
      id = wanted.slice(0, (this.#rules.idLength ?? Number.POSITIVE_INFINITY) - suffix.length) + suffix
    }
    this.#used.add(id)
    return id
  }

  #isTaken(id: string): boolean {
    const repeated = this.#rules.takesNumbersForRepeats ? /^(.+)_\d+$/.exec(id)?.[1] : undefined
    return this.#used.has(id) || (repeated !== undefined && this.#used.has(repeated))
  }
}

/** The message with ids and names of calls that the API takes, and with results that have the ids of their calls. */
export function fitted<M extends ModelMessage>(message: M, ids: CallIds, losses: Losses): M {
  if (message.role === "toolResult") {
    const toolCallId = ids.ofResult(message.toolCallId) ?? ids.fit(message.toolCallId)
    const { toolName } = message
    return { ...message, toolCallId, ...(toolName === undefined ? {} : { toolName: ids.nameOf(toolName) }) }
  }
  if (message.role !== "assistant") return message
  const calls = ids.ofMessage(message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])))
  let n = 0
  const content = message.content.map((block) => {
    if (block.type !== "toolCall") return block
    const name = ids.nameOf(block.name)
    if (name !== block.name)
      losses.add("names", 1, (count) => `${count} names of tools have "_" for what the API refuses, or are shorter.`)
    return { ...block, id: calls[n++] as string, name }
  })
  return { ...message, content }
}
