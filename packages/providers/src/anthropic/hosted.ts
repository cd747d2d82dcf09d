/**
 * Calls of tools that Anthropic runs itself, and their results: blocks of one answer, or of an answer that waits and the one that goes on. The API
 * refuses one without the other, unless it is about to make the result.
 */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { WRAPPED_VALUE } from "@sessions/formats/messages/anthropic"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { PREFIX } from "./answer.ts"
import { HOSTED_CALLS, HOSTED_RESULT, THINKING } from "./rules.ts"

/** The block in the API's words, as an answer or an imported log has it. */
export function apiOf(block: ContentBlock): Fields {
  const fields = block.type === WRAPPED_VALUE ? fieldsOf((block as Fields)["value"]) : (block as Fields)
  const type = stringOf(fields["type"]) ?? ""
  return type.startsWith(PREFIX) ? { ...fields, type: type.slice(PREFIX.length) } : fields
}

interface Half {
  readonly of: "call" | "result"
  readonly id: string
}

function halfOf(block: ContentBlock): Half | undefined {
  const { type, id, tool_use_id: of } = apiOf(block)
  if (HOSTED_CALLS.has(String(type))) return { of: "call", id: String(id) }
  return HOSTED_RESULT.test(String(type)) ? { of: "result", id: String(of) } : undefined
}

export class Hosted {
  /** The blocks that have their other half, and the calls whose results come next. */
  readonly #sent = new Set<ContentBlock>()
  /** Answers that the API has paused at a call, with their calls without a result: it goes on when it gets them back. */
  readonly #paused = new Map<ModelMessage, readonly ContentBlock[]>()
  /** Where the code runs that waits for results in this request. */
  readonly container: string | undefined

  /** `now`: ms since 1970. The code of an expired container is gone, and with it the calls that wait for it. */
  constructor(items: readonly ContextMessage<ModelMessage>[], now: number) {
    /** Calls that the next answer may have the results of, by their ids. */
    const open = new Map<string, ContentBlock>()
    let last: ModelMessage | undefined
    for (const { message } of items) {
      // The results of the program's tools go to an answer that waits for them, a question to none.
      const isPaused = last !== undefined && this.#paused.has(last)
      if (message.role === "user" || (message.role === "toolResult" && isPaused)) open.clear()
      if (message.role !== "assistant") continue
      last = message
      this.#pair(message, open)
      const calls = [...open.values()]
      if (message.stopReason === "pause_turn" && calls.some((call) => call === endOf(message)))
        this.#paused.set(message, calls)
      else if (message.stopReason !== "tool_use" || !message.content.some(({ type }) => type === "toolCall"))
        open.clear()
    }
    if (open.size === 0 || last === undefined) return
    const { api, fields } = fieldsOf(last["native"])
    const { id, expires_at: end } = fieldsOf(api === "anthropic" ? fieldsOf(fields)["container"] : undefined)
    if (Date.parse(String(end)) <= now) return
    this.container = stringOf(id)
    for (const call of open.values()) this.#sent.add(call)
  }

  #pair({ content }: AssistantMessage, open: Map<string, ContentBlock>): void {
    for (const block of content) {
      const half = halfOf(block)
      if (half?.of === "call") open.set(half.id, block)
      const call = half?.of === "result" ? open.get(half.id) : undefined
      if (half === undefined || call === undefined) continue
      this.#sent.add(call).add(block)
      open.delete(half.id)
    }
  }

  /** Whether the next answer goes on with this one, or a request may end with it. */
  isPaused(message: ModelMessage): boolean {
    return this.#paused.get(message)?.some((call) => this.#sent.has(call)) === true
  }

  /** The blocks of an answer without those whose other half is missing. */
  kept({ content }: AssistantMessage, entryId: string, lost: Lost): readonly ContentBlock[] {
    const gone = new Set<string>()
    const kept = content.filter((block) => {
      const half = halfOf(block)
      if (half === undefined || this.#sent.has(block)) return true
      gone.add(half.id)
      return false
    })
    lost.add("hosted_calls", entryId, content.length - kept.length)
    return gone.size === 0 ? kept : kept.map((block) => withoutCaller(block, gone))
  }
}

/** Thinking is not sent where nothing follows it. */
function endOf({ content }: AssistantMessage): ContentBlock | undefined {
  return content.findLast((block) => !THINKING.has(String(apiOf(block)["type"])))
}

/** A call of the program's tool that the code of a hosted call has made names that call. */
function withoutCaller(block: ContentBlock, gone: ReadonlySet<string>): ContentBlock {
  const native = fieldsOf((block as Fields)["native"])
  const { caller, ...rest } = fieldsOf(native["fields"])
  const isOrphan = gone.has(String(fieldsOf(caller)["tool_id"]))
  return isOrphan ? { ...block, native: { ...native, fields: rest } } : block
}
