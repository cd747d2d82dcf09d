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

/**
 * Walks back from the newest message until `keepRecentTokens` is reached and cuts at the first valid place from there on, else at
 * the last one before. Valid: a message that is no tool result, with no call on the one side whose result is on the other; a call
 * at the end that still waits for its result keeps itself and all that follows. `mayBegin` says which messages a kept part may begin
 * with; default: all. Undefined: nothing can be cut.
 */
export function findCutPoint(
  messages: readonly Message[],
  keepRecentTokens: number,
  mayBegin: (index: number) => boolean = () => true,
): CutPoint | undefined {
  const valid = validCuts(messages).map((isValid, index) => isValid && (index === messages.length || mayBegin(index)))
  const wanted = wantedCut(messages, keepRecentTokens)
  if (wanted === 0) return undefined
  let first = wanted
  while (first < messages.length && valid[first] !== true) first++
  if (first === messages.length && !(keepRecentTokens <= 0 && valid[first] === true)) {
    first = Math.min(wanted, messages.length - 1)
    while (first > 0 && valid[first] !== true) first--
  }
  if (first <= 0) return undefined
  return { first, turnStart: turnStartOf(messages, first) }
}

/** Whether a message starts a turn: something a user said, not what the program made. */
export function startsTurn(message: Message): boolean {
  return message.role === "user" && message.synthetic !== true
}

function wantedCut(messages: readonly Message[], keepRecentTokens: number): number {
  if (keepRecentTokens <= 0) return messages.length
  let tokens = 0
  for (let i = messages.length - 1; i >= 0; i--) {
    tokens += estimateMessage(messages[i] as Message)
    if (tokens >= keepRecentTokens) return i
  }
  return 0
}

/** For each place before a message, and the end: whether a cut there parts no call from its result. */
function validCuts(messages: readonly Message[]): readonly boolean[] {
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
