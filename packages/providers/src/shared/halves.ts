/**
 * Calls of tools that a provider runs itself, and their results: both are blocks of answers, and one without the other is refused. The result is in the
 * answer of its call, or in the next one if the provider goes on with it there.
 */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"

export interface Half {
  readonly of: "call" | "result"
  readonly id: string
}

export interface HalfRules {
  /** Undefined for a block that has no other half. */
  readonly halfOf: (block: ContentBlock) => Half | undefined
  /** Whether the next answer may have the results of these calls. */
  readonly goesOn: (message: AssistantMessage, calls: readonly ContentBlock[]) => boolean
  /** Whether the receiver makes the results if the request ends with this answer, or with results of its other calls. */
  readonly isAwaited: (message: AssistantMessage) => boolean
}

export class Halves {
  readonly #rules: HalfRules
  /** The blocks that have their other half, and the calls whose results come next. */
  readonly #sent = new Set<ContentBlock>()
  /** Answers that the next one goes on with, each with its calls without a result. */
  readonly #waiting = new Map<ModelMessage, readonly ContentBlock[]>()
  /** The answer whose results come next. */
  readonly awaited: AssistantMessage | undefined

  constructor(items: readonly ContextMessage<ModelMessage>[], rules: HalfRules) {
    this.#rules = rules
    /** Calls that the next answer may have the results of, by their ids. */
    const open = new Map<string, ContentBlock>()
    let last: AssistantMessage | undefined
    for (const { message } of items) {
      if (message.role === "user") open.clear()
      if (message.role !== "assistant") continue
      last = message
      this.#pair(message, open)
      const calls = [...open.values()]
      if (calls.length > 0 && rules.goesOn(message, calls)) this.#waiting.set(message, calls)
      else open.clear()
    }
    if (open.size === 0 || last === undefined || !rules.isAwaited(last)) return
    this.awaited = last
    for (const call of open.values()) this.#sent.add(call)
  }

  #pair({ content }: AssistantMessage, open: Map<string, ContentBlock>): void {
    /** A second call with the id of one that has its result has none of its own. */
    const paired = new Set<string>()
    for (const block of content) {
      const half = this.#rules.halfOf(block)
      if (half?.of === "call" && !paired.has(half.id)) open.set(half.id, block)
      const call = half?.of === "result" ? open.get(half.id) : undefined
      if (half === undefined || call === undefined) continue
      this.#sent.add(call).add(block)
      open.delete(half.id)
      paired.add(half.id)
    }
  }

  /** Whether the next answer goes on with this one, or the request may end with it. */
  isOpen(message: ModelMessage): boolean {
    return this.#waiting.get(message)?.some((call) => this.#sent.has(call)) === true
  }

  /** Whether the block has no other half, or has it in the request. */
  isSent(block: ContentBlock): boolean {
    return this.#rules.halfOf(block) === undefined || this.#sent.has(block)
  }
}
