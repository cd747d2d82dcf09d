/** Finds the cut point of a compaction: the first message that is kept. Pure and linear. */
import { checkOptions, type OptionNames } from "../../storage/options.ts"
import type { Message, ToolCallBlock } from "../../format/message.ts"
import { estimateMessage } from "../../format/tokens.ts"

export interface CutPoint {
  /** Index of the first kept message; the number of messages if nothing is kept. */
  readonly first: number
  /** Index of the first message of the turn that the cut splits; equal to `first` if it splits none. */
  readonly turnStart: number
}

/** The minimum that is kept, counted from the newest message back. A turn begins with a user message. 0 keeps nothing. */
export interface KeepRule {
  readonly kind: "tokens" | "turns" | "messages"
  readonly count: number
}

export interface CutOptions {
  /** Tokens of the message at an index; default: {@link estimateMessage}. */
  readonly tokensAt?: (index: number) => number
  /** Whether the message at an index may be the first kept one; default: every message may. */
  readonly mayBegin?: (index: number) => boolean
}

const OPTIONS: OptionNames<CutOptions> = { tokensAt: 1, mayBegin: 1 }

/**
 * Walks back from the newest message until the rule's minimum is reached. For tokens it cuts at the first valid index from there on,
 * else at the last one before; turns and messages are minimums, so it cuts there or before. A cut is valid before a message that is
 * not a tool result, if no call is separated from its result. A call at the end that has no result yet is always kept, with all
 * messages after it. Undefined: nothing can be cut.
 */
export function findCutPoint(messages: readonly Message[], keep: KeepRule, o: CutOptions = {}): CutPoint | undefined {
  checkOptions("findCutPoint", o, OPTIONS)
  const { tokensAt = (index) => estimateMessage(messages[index] as Message), mayBegin = () => true } = o
  const valid = validCuts(messages)
  const isValid = (index: number): boolean => valid[index] === true && (index === messages.length || mayBegin(index))
  const wanted = wantedCut(messages, keep, tokensAt)
  // A number of tokens is approximate, so the kept part may be smaller, but not empty unless the rule keeps nothing.
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

/** Whether a message starts a turn: a user message that the program did not make. */
export function startsTurn(message: Message): boolean {
  return message.role === "user" && message.synthetic !== true
}

/** The largest index from which on the messages reach the rule's minimum; 0 if all of them are needed, or too few. */
function wantedCut(messages: readonly Message[], keep: KeepRule, tokensAt: (index: number) => number): number {
  let sum = 0
  let index = messages.length
  while (sum < keep.count && index > 0) {
    index--
    if (keep.kind === "tokens") sum += tokensAt(index)
    else if (keep.kind === "messages" || startsTurn(messages[index] as Message)) sum++
  }
  return sum < keep.count ? 0 : index
}

/** For each index, the end included: whether a cut there separates no call from its result. */
export function validCuts(messages: readonly Message[]): readonly boolean[] {
  /** For each message with calls: the index of their last result. A cut after the message and not after that result separates them. */
  const lastResult = new Array<number>(messages.length).fill(0)
  const open = new Map<string, OpenCall>()
  let lastSpoken = 0
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as Message
    if (message.role === "user" || message.role === "assistant") lastSpoken = index
    if (message.role === "assistant") openCalls(open, message, index)
    if (message.role !== "toolResult") continue
    const { toolCallId } = message
    const waiting = open.get(toolCallId)
    if (waiting === undefined) continue
    lastResult[waiting.call] = index
    if (--waiting.results === 0) open.delete(toolCallId)
  }
  for (const { call } of open.values()) if (call >= lastSpoken) lastResult[call] = messages.length
  const valid: boolean[] = []
  let separated = -1
  for (let index = 0; index <= messages.length; index++) {
    valid.push(index > separated && messages[index]?.role !== "toolResult")
    separated = Math.max(separated, lastResult[index] ?? 0)
  }
  return valid
}

interface OpenCall {
  /** Index of its message. */
  readonly call: number
  /** Missing results: a message may use an id several times. */
  results: number
}

/** Local models reuse ids: a result belongs to the newest call with its id. */
function openCalls(open: Map<string, OpenCall>, message: Message, index: number): void {
  for (const { type, id } of (message.content ?? []) as readonly ToolCallBlock[]) {
    if (type !== "toolCall") continue
    const before = open.get(id)
    if (before?.call === index) before.results++
    else open.set(id, { call: index, results: 1 })
  }
}

/** Index of the first message of the turn that a cut before `first` splits; `first` if it splits none. */
export function turnStartOf(messages: readonly Message[], first: number): number {
  const next = messages[first]
  if (next === undefined || startsTurn(next)) return first
  for (let i = first - 1; i >= 0; i--) if (startsTurn(messages[i] as Message)) return i
  return first
}
