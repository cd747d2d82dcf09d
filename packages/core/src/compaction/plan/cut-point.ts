/** Where the kept part of a compacted context begins. Pure and linear. */
import type { Message, ToolCallBlock, ToolResultMessage } from "../../format/messages.ts"
import { estimateMessage } from "../../format/tokens.ts"

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
  /** Tokens of the message at an index; default: {@link estimateMessage}. */
  readonly tokensAt?: (index: number) => number
  /** Which messages a kept part may begin with; default: all. */
  readonly mayBegin?: (index: number) => boolean
}

/**
 * Walks back from the newest message until what the rule keeps is reached. For tokens it cuts at the first valid place from there
 * on, else at the last one before; turns and messages are minimums, so it cuts there or before. Valid: a message that is no tool
 * result, with no call on the one side whose result is on the other; a call at the end that still waits for its result keeps itself
 * and all that follows, whatever the rule. Undefined: nothing can be cut.
 */
export function findCutPoint(messages: readonly Message[], keep: KeepRule, o: CutOptions = {}): CutPoint | undefined {
  const { tokensAt = (index) => estimateMessage(messages[index] as Message), mayBegin = () => true } = o
  const valid = validCuts(messages)
  const isValid = (place: number): boolean => valid[place] === true && (place === messages.length || mayBegin(place))
  const wanted = wantedCut(messages, keep, tokensAt)
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
function wantedCut(messages: readonly Message[], keep: KeepRule, tokensAt: (index: number) => number): number {
  let sum = 0
  let place = messages.length
  while (sum < keep.count && place > 0) {
    place--
    if (keep.kind === "tokens") sum += tokensAt(place)
    else if (keep.kind === "messages" || startsTurn(messages[place] as Message)) sum++
  }
  return sum < keep.count ? 0 : place
}

/** For each place before a message, and the end: whether a cut there parts no call from its result. */
export function validCuts(messages: readonly Message[]): readonly boolean[] {
  /** Calls that stand open after each message: a cut behind it would part them from their results. */
  const parted = new Array<number>(messages.length + 2).fill(0)
  const open = new Map<string, OpenCall>()
  let lastTalk = 0
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as Message
    if (message.role === "user") lastTalk = index
    else if (message.role === "assistant") {
      lastTalk = index
      openCalls(open, message, index)
    } else if (message.role === "toolResult") {
      const { toolCallId } = message as ToolResultMessage
      const waiting = open.get(toolCallId)
      if (waiting === undefined) continue
      block(parted, waiting.call + 1, index)
      if (--waiting.results === 0) open.delete(toolCallId)
    }
  }
  for (const { call } of open.values()) if (call >= lastTalk) block(parted, call + 1, messages.length)
  const valid = new Array<boolean>(messages.length + 1)
  for (let place = 0, depth = 0; place <= messages.length; place++) {
    depth += parted[place] as number
    valid[place] = depth === 0 && messages[place]?.role !== "toolResult"
  }
  return valid
}

interface OpenCall {
  /** Index of its message. */
  readonly call: number
  /** How many results it waits for: a message may have an id several times. */
  results: number
}

/** Local models use ids again: a result belongs to the newest call of its id. */
function openCalls(open: Map<string, OpenCall>, message: Message, index: number): void {
  for (const { type, id } of (message.content ?? []) as readonly ToolCallBlock[]) {
    if (type !== "toolCall") continue
    const before = open.get(id)
    if (before?.call === index) before.results++
    else open.set(id, { call: index, results: 1 })
  }
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
