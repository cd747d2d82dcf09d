/**
 * Calls of tools that Anthropic runs itself, and their results: blocks of one answer, or of an answer that waits and the one that goes on. The API
 * refuses one without the other, unless it is about to make the result.
 */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { WRAPPED_VALUE } from "@sessions/formats/messages/anthropic"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { type Half, Halves } from "../shared/halves.ts"
import type { Lost } from "../shared/lost.ts"
import { PREFIX } from "./answer.ts"
import { HOSTED_CALLS, HOSTED_RESULT, THINKING } from "./rules.ts"

/** The block in the API's words, as an answer or an imported log has it. */
export function apiOf(block: ContentBlock): Fields {
  const fields = block.type === WRAPPED_VALUE ? fieldsOf((block as Fields)["value"]) : (block as Fields)
  const type = stringOf(fields["type"]) ?? ""
  return type.startsWith(PREFIX) ? { ...fields, type: type.slice(PREFIX.length) } : fields
}

function halfOf(block: ContentBlock): Half | undefined {
  const { type, id, tool_use_id: of } = apiOf(block)
  if (HOSTED_CALLS.has(String(type))) return { of: "call", id: String(id) }
  return HOSTED_RESULT.test(String(type)) ? { of: "result", id: String(of) } : undefined
}

/** The API goes on with an answer that it has paused at a call, and with one that waits for the program's tools. */
function goesOn({ content, stopReason }: AssistantMessage, calls: readonly ContentBlock[]): boolean {
  const isOwn = content.some(({ type }) => type === "toolCall")
  // Thinking is not sent where nothing follows it.
  const last = content.findLast((block) => !THINKING.has(String(apiOf(block)["type"])))
  return isOwn ? stopReason === "tool_use" : stopReason === "pause_turn" && calls.some((call) => call === last)
}

export class Hosted {
  readonly #halves: Halves
  /** Where the code runs that waits for results in this request. */
  readonly container: string | undefined

  /** `now`: ms since 1970. The code of an expired container is gone, and with it the calls that wait for it. */
  constructor(items: readonly ContextMessage<ModelMessage>[], now: number) {
    const isAwaited = (message: AssistantMessage) => !(Date.parse(String(containerOf(message)["expires_at"])) <= now)
    this.#halves = new Halves(items, { halfOf, goesOn, isAwaited })
    this.container = stringOf(containerOf(this.#halves.awaited)["id"])
  }

  /** Whether the next answer goes on with this one, or a request may end with it. */
  isPaused(message: ModelMessage): boolean {
    return message["stopReason"] === "pause_turn" && this.#halves.isOpen(message)
  }

  /** The blocks of an answer without those whose other half is missing. */
  kept({ content }: AssistantMessage, entryId: string, lost: Lost): readonly ContentBlock[] {
    const left = content.filter((block) => !this.#halves.isSent(block))
    lost.add("hosted_calls", entryId, left.length)
    if (left.length === 0) return content
    const gone = new Set(left.map((block) => halfOf(block)?.id))
    return content.filter((block) => this.#halves.isSent(block)).map((block) => withoutCaller(block, gone))
  }
}

function containerOf(message: AssistantMessage | undefined): Fields {
  const { api, fields } = fieldsOf(message?.["native"])
  return api === "anthropic" ? fieldsOf(fieldsOf(fields)["container"]) : {}
}

/** A call of the program's tool that the code of a hosted call has made names that call. */
function withoutCaller(block: ContentBlock, gone: ReadonlySet<unknown>): ContentBlock {
  const native = fieldsOf((block as Fields)["native"])
  const { caller, ...rest } = fieldsOf(native["fields"])
  const isOrphan = gone.has(fieldsOf(caller)["tool_id"])
  return isOrphan ? { ...block, native: { ...native, fields: rest } } : block
}
