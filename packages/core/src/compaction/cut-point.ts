/** Where the kept part of a compacted context begins. Pure and linear. */
import { callsOf } from "../context/repair.ts"
import type { Message, ModelMessage, ToolResultMessage } from "../format/messages.ts"
import { estimateMessage } from "./tokens.ts"

export interface CutPoint {
  /** Index of the first kept message; the number of messages where nothing is kept. */
  readonly first: number
  /** Where the turn that the cut splits begins; equal to `first` where it splits none. */
  readonly turnStart: number
}

/** What is kept at least, counted from the newest message back. A turn begins where its user speaks. 0 keeps nothing. */
export interface KeepRule {
  readonly kind: "tokens" | "turns" | "messages"
  readonly count: number
}

export interface CutOptions {
  /** Tokens of one message; default: {@link estimateMessage}. */
  readonly count?: (message: Message) => number
  /** Which messages a kept part may begin with; default: all. */
  readonly mayBegin?: (index: number) => boolean
}

/**
 * Walks back from the newest message until what the rule keeps is reached. For tokens it cuts at the first valid place from there
 * on, else at the last one before; turns and messages are minimums, so it cuts there or before. Valid: a message that is no tool
 * result, with no call on the one side whose result is on the other; a call at the end that still waits for its result keeps itself
 * and all that follows, whatever the rule. Undefined: nothing can be cut.
 */
export function findCutPoint(
  messages: readonly Message[],
  keep: KeepRule,
  { count = estimateMessage, mayBegin = () => true }: CutOptions = {},
): CutPoint | undefined {
  const valid = validCuts(messages)
  const isValid = (place: number): boolean => valid[place] === true && (place === messages.length || mayBegin(place))
  const wanted = wantedCut(messages, keep, count)
  // Tokens are about so many, so that the kept part may be smaller; but it is not empty where something was to be kept.
  const last = keep.kind === "tokens" ? Math.max(wanted, messages.length - 1) : wanted
  if (wanted === 0) return undefined
  let first = wanted
  while (first <= last && !isValid(first)) first++
  if (first > last) {
    first = wanted - 1
    while (first > 0 && !isValid(first)) first--
  }
  return first <= 0 ? undefined : { first, turnStart: turnStartOf(messages, first) }
}

/** Whether a message starts a turn: something a user said, not what the program made. */
export function startsTurn(message: Message): boolean {
  return message.role === "user" && message.synthetic !== true
}

/** The newest place behind which there is what the rule keeps; 0 where that is all there is. */
function wantedCut(messages: readonly Message[], keep: KeepRule, count: (message: Message) => number): number {
  let sum = 0
  let place = messages.length
  while (sum < keep.count && place > 0) {
    const message = messages[--place] as Message
    if (keep.kind === "tokens") sum += count(message)
    else if (keep.kind === "messages" || startsTurn(message)) sum++
  }
  return sum < keep.count ? 0 : place
}

/** For each place before a message, and the end: whether a cut there parts no call from its result. */
export function validCuts(messages: readonly Message[]): readonly boolean[] {
  /** Calls that stand open after each message: a cut behind it would part them from their results. */
  const parted = new Array<number>(messages.length + 2).fill(0)
  const open = new Map<string, { readonly call: number; results: number }>()
  let lastTalk = 0
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") {
      const { toolCallId } = message as ToolResultMessage
      const waiting = open.get(toolCallId)
      if (waiting === undefined) continue
      block(parted, waiting.call + 1, index)
      if (--waiting.results === 0) open.delete(toolCallId)
    } else {
      if (message.role === "user" || message.role === "assistant") lastTalk = index
      for (const { id } of callsOf(message as ModelMessage)) {
        const before = open.get(id)
        if (before?.call === index) before.results++
        else open.set(id, { call: index, results: 1 })
      }
    }
  }
  for (const { call } of open.values()) if (call >= lastTalk) block(parted, call + 1, messages.length)
  let depth = 0
  return Array.from({ length: messages.length + 1 }, (_, place) => {
    depth += parted[place] as number
    return depth === 0 && messages[place]?.role !== "toolResult"
  })
}

/** Marks the places `from` to `to`, both included, in a difference array. */
function block(parted: number[], from: number, to: number): void {
  parted[from] = (parted[from] as number) + 1
  parted[to + 1] = (parted[to + 1] as number) - 1
}

function turnStartOf(messages: readonly Message[], first: number): number {
  const next = messages[first]
  if (next === undefined || startsTurn(next)) return first
  for (let i = first - 1; i >= 0; i--) if (startsTurn(messages[i] as Message)) return i
  return first
}
