/** What a session costs with a provider's cache: a token that is read from it costs a tenth, one that is written 1.25 times as much. */
import { isSameJson } from "../src/format/json.ts"
import { estimateMessage } from "../src/format/tokens.ts"
import type { ModelMessage } from "../src/format/message.ts"
import type { ContextMessage } from "../src/context/types.ts"

type Messages = readonly ContextMessage<ModelMessage>[]

export interface Price {
  /** In plain tokens of input. */
  readonly price: number
  /** The part of it for what was read from the cache. */
  readonly read: number
  readonly requests: number
  /** Requests that do not begin with all of the one before. */
  readonly breaks: number
}

/** There is a request before each answer. `view` makes it of the messages until then. */
export function priceOf(log: Messages, view: (messages: Messages) => Messages): Price {
  let [price, read, requests, breaks] = [0, 0, 0, 0]
  let last: Messages = []
  const sizes = new Map<ModelMessage, number>()
  const sizeOf = ({ message }: Messages[number]): number => {
    const size = sizes.get(message) ?? estimateMessage(message)
    sizes.set(message, size)
    return size
  }
  for (const [index, { message }] of log.entries()) {
    if (message.role !== "assistant") continue
    const now = view(log.slice(0, index))
    const same = commonPrefix(last, now)
    const tokens = now.map(sizeOf)
    const ofCache = 0.1 * sum(tokens.slice(0, same))
    read += ofCache
    price += ofCache + 1.25 * sum(tokens.slice(same))
    requests++
    if (same < last.length) breaks++
    last = now
  }
  return { price, read, requests, breaks }
}

/** The number of messages that two contexts begin with in common. */
export function commonPrefix(a: Messages, b: Messages): number {
  const at = a.findIndex(({ message }, index) => {
    const other = b[index]?.message
    return other !== message && !isSameJson(other, message)
  })
  return at < 0 ? a.length : at
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
