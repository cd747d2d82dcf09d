/**
 * Plans the steps of `makeRoom` that change only what contexts show: each as far as it is needed, the oldest message first. Pure: what a step
 * would change is derived from the context as it is sent.
 */
import type { ContextMessage } from "../../context/types.ts"
import { cutMessage, shortenedResult, unitsOfTexts, withoutImages } from "../../context/view/step-forms.ts"
import { EXEMPT_TOOLS, exemptResults } from "../../context/prune/exempt-results.ts"
import type { ContextStepEntry } from "../../format/entry.ts"
import type { Message, ModelMessage } from "../../format/message.ts"
import { type MessageSize, sizeOf as bytesOf } from "../../format/message-size.ts"
import { hasCalls, openQuestion } from "../plan/cut-to-aim.ts"

type Item = ContextMessage<ModelMessage>

/** How much a request has, or may have. */
export interface Load extends MessageSize {
  readonly tokens: number
}

export interface Room {
  /** The messages as they are sent. */
  readonly messages: readonly Item[]
  /** The entry that a step for all messages names. A late result is not the last of them, and an included question is before the summary. */
  readonly upTo: string | undefined
  /** Where its entry is in the order of the log: a late result has another place there than in the context. */
  readonly placeOf: (item: ContextMessage) => number
  /** Tokens of any form of a message. */
  readonly sizeOf: (item: ContextMessage) => number
  readonly load: Load
  readonly limits: Load
  /** Old content is shortened below this, so that the next turns do not change it again. */
  readonly aims: Load
}

export type StepFields = Pick<ContextStepEntry, "step" | "units" | "upTo" | "except" | "ids">

/** No message is cut below this estimate. */
export const SHORTEST_CUT = 64
/** The newest answers whose results, and those behind them, are not shortened. */
const KEPT_ANSWERS = 3
/** Cuts end this far below a limit: the sizes of cut texts are less certain. */
const CUT_SHARE = 0.95

export function isWithin(load: Load, limits: Load): boolean {
  return load.tokens <= limits.tokens && load.bytes <= limits.bytes && load.images <= limits.images
}

/** Long results of tools, behind which the model has answered several times. */
export function planResults(room: Room): StepFields | undefined {
  const { messages, load, limits } = room
  if (load.tokens <= limits.tokens && load.bytes <= limits.bytes && load.images > limits.images) return undefined
  const plain = messages.map(({ message }) => message)
  const exempt = exemptResults(plain, EXEMPT_TOOLS)
  const answers = plain.flatMap(({ role }, index) => (role === "assistant" ? [index] : []))
  const end = answers.at(-KEPT_ANSWERS) ?? 0
  const upTo = firstThatSuffices(room, room.aims, {
    shorten: ({ message }, index) =>
      message.role === "toolResult" && exempt[index] !== true ? shortenedResult(message) : message,
    stays: (index) => index >= end,
  })
  return upTo === undefined ? undefined : { step: "results", upTo: upTo.entryId }
}

/** Images and files: those that the model has read, or any. */
export function planImages(room: Room, isUnread: boolean): StepFields | undefined {
  const { messages } = room
  const { question, from } = unreadPart(messages)
  const upTo = firstThatSuffices(room, isUnread ? room.limits : room.aims, {
    shorten: ({ message }, index) => (isUnread || index !== question ? withoutImages(message) : message),
    stays: (index) => !isUnread && index >= from,
  })
  if (upTo === undefined) return undefined
  const asked = isUnread ? undefined : messages[question ?? -1]
  return { step: "images", upTo: upTo.entryId, ...(asked === undefined ? {} : { except: asked.entryId }) }
}

interface Shortening {
  readonly shorten: (item: Item, index: number) => ModelMessage
  /** Whether the message at an index must stay as it is. */
  readonly stays: (index: number) => boolean
}

/**
 * The last message that must be shortened, oldest first, until the request is within the limits; the last that can be, if all are needed. A step
 * is for all messages up to its entry, so none is taken whose entry is behind one that stays.
 */
function firstThatSuffices(
  { messages, placeOf, sizeOf, load }: Room,
  limits: Load,
  { shorten, stays }: Shortening,
): Item | undefined {
  const end = messages.reduce(
    (least, item, index) => (stays(index) ? Math.min(least, placeOf(item)) : least),
    Number.POSITIVE_INFINITY,
  )
  let { tokens, bytes, images } = load
  let last: Item | undefined
  for (const [index, item] of messages.entries()) {
    if (stays(index) || placeOf(item) >= end) continue
    const message = shorten(item, index)
    if (message === item.message) continue
    last = last !== undefined && placeOf(last) > placeOf(item) ? last : item
    const [was, is] = [bytesOf(item.message), bytesOf(message)]
    tokens += sizeOf({ ...item, message }) - sizeOf(item)
    bytes += is.bytes - was.bytes
    images += is.images - was.images
    if (isWithin({ tokens, bytes, images }, limits)) break
  }
  return last
}

/**
 * Cuts all messages to the largest size that fits, at most half of the last cut, and at least {@link SHORTEST_CUT}. Undefined: nothing is
 * longer than that.
 */
export function planCut(
  { messages, sizeOf, load, limits, upTo }: Room,
  lastCut: number | undefined,
): StepFields | undefined {
  const estimates = messages.map(({ message }) => unitsOfTexts(message))
  const largest = estimates.reduce((most, own) => Math.max(most, own), 0)
  if (upTo === undefined || (lastCut !== undefined && lastCut <= SHORTEST_CUT)) return undefined
  const fitsWhenCut = (units: number): boolean => {
    let { tokens, bytes } = load
    for (const [index, item] of messages.entries()) {
      if ((estimates[index] as number) <= units) continue
      const message = cutMessage(item.message, units)
      tokens += sizeOf({ ...item, message }) - sizeOf(item)
      bytes += bytesOf(message).bytes - bytesOf(item.message).bytes
    }
    return tokens <= CUT_SHARE * limits.tokens && bytes <= CUT_SHARE * limits.bytes
  }
  // A message that fits by its size, and was refused all the same, is halved.
  const first = fitsWhenCut(largest) ? largest / 2 : largest - 1
  let units = Math.max(SHORTEST_CUT, Math.floor(lastCut === undefined ? first : Math.min(lastCut / 2, first)))
  let least = SHORTEST_CUT
  if (!fitsWhenCut(units)) {
    while (units - least > 1) {
      const middle = (least + units) >> 1
      if (fitsWhenCut(middle)) least = middle
      else units = middle
    }
    units = least
  }
  const isChanged = messages.some(
    ({ message }, index) => (estimates[index] as number) > units && cutMessage(message, units) !== message,
  )
  return isChanged ? { step: "cut", units, upTo } : undefined
}

/** Older messages of users that wait for an answer; if there are none, all that the model has read. */
export function planLeftOut({ messages }: Room): StepFields | undefined {
  const { question, from } = unreadPart(messages)
  const canGo = ({ kind, message }: Item, index: number): boolean =>
    index !== question && message.role !== "system" && kind !== "compaction" && kind !== "repair"
  const pending = messages.filter((item, index) => index >= from && item.message.role === "user" && canGo(item, index))
  const out = pending.length > 0 ? pending : messages.filter((item, index) => index < from && canGo(item, index))
  if (out.length === 0) return undefined
  return { step: "left_out", ids: [...new Set(out.map(({ entryId }) => entryId))] }
}

/** The question and what the model has not read. */
export function unreadOf<M extends Message>(messages: readonly ContextMessage<M>[]): readonly ContextMessage<M>[] {
  const { question, from } = unreadPart(messages)
  return messages.filter((_, index) => index === question || index >= from)
}

/** Those of them that are in every request: older messages of users may be left out. */
export function protectedOf(messages: readonly ContextMessage[]): readonly ContextMessage[] {
  const { question, from } = unreadPart(messages)
  return messages.filter(({ message }, index) => index === question || (index >= from && message.role !== "user"))
}

/** The question, and where the part begins that the model has not read: its last answer if that has calls, or what follows it. */
function unreadPart(messages: readonly ContextMessage[]): {
  readonly question: number | undefined
  readonly from: number
} {
  // A summary, and the line in the place of messages that are left out, ask nothing.
  const plain = messages.map(
    ({ kind, message }): Message =>
      message.role === "user" && (kind === "compaction" || kind === "repair")
        ? { ...message, synthetic: true }
        : message,
  )
  const answer = plain.findLastIndex(({ role }) => role === "assistant")
  return { question: openQuestion(plain), from: hasCalls(plain[answer]?.content) ? answer : answer + 1 }
}
