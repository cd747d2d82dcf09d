/**
 * Calls of tools that Anthropic runs itself, and their results: blocks of one answer, or of the one before and the one after the results of the program's
 * tools. The API refuses one without the other, unless it is about to make the result.
 */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { WRAPPED_VALUE } from "@sessions/formats/messages/anthropic"
import { type Fields, fieldsOf, stringOf } from "@sessions/formats/messages/values"
import { type Half, pairedIds } from "../shared/halves.ts"
import type { Lost } from "../shared/lost.ts"
import { PREFIX } from "./answer.ts"
import { GOES_ON, HOSTED_CALLS, HOSTED_RESULT } from "./rules.ts"

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

export class Hosted {
  readonly #paired: ReadonlySet<string>
  /** The answer whose calls get their results in the next one. */
  readonly #open: ModelMessage | undefined
  /** Where the code of its calls runs. */
  readonly container: string | undefined

  /** `now`: ms since 1970. The code of an expired container is gone, and with it the calls that wait for it. */
  constructor(items: readonly ContextMessage<ModelMessage>[], now: number) {
    this.#paired = pairedIds(items, halfOf)
    const last = items.findLast(({ message }) => message.role !== "toolResult")?.message
    if (last === undefined || !GOES_ON.has(String(last["stopReason"]))) return
    const { api, fields } = fieldsOf(last["native"])
    const { id, expires_at: end } = fieldsOf(api === "anthropic" ? fieldsOf(fields)["container"] : undefined)
    if (Date.parse(String(end)) <= now) return
    this.#open = last
    this.container = stringOf(id)
  }

  /** Whether the API has paused the answer at a hosted call, so that a request may end with it and the next answer goes on. */
  isPaused({ stopReason, content }: ModelMessage): boolean {
    const last = content.at(-1)
    return stopReason === "pause_turn" && last !== undefined && halfOf(last) !== undefined
  }

  /** The blocks of an answer without those whose other half is missing. */
  kept(message: AssistantMessage, entryId: string, lost: Lost): readonly ContentBlock[] {
    const gone = new Set<string>()
    const kept = message.content.filter((block) => {
      const half = halfOf(block)
      if (half === undefined || this.#paired.has(half.id)) return true
      if (half.of === "call" && message === this.#open) return true
      gone.add(half.id)
      return false
    })
    lost.add("hosted_calls", entryId, message.content.length - kept.length)
    return gone.size === 0 ? kept : kept.map((block) => withoutCaller(block, gone))
  }
}

/** A call of the program's tool that the code of a hosted call has made names that call. */
function withoutCaller(block: ContentBlock, gone: ReadonlySet<string>): ContentBlock {
  const native = fieldsOf((block as Fields)["native"])
  const { caller, ...rest } = fieldsOf(native["fields"])
  const isOrphan = gone.has(String(fieldsOf(caller)["tool_id"]))
  return isOrphan ? { ...block, native: { ...native, fields: rest } } : block
}
