/**
 * Shortens old tool results, so that a context needs compaction later. Only the context changes: the log keeps the results whole, and
 * the next context is made from the log again. Pure and linear.
 */
import { checkOptions, type OptionNames } from "../../storage/options.ts"
import { contentUnits, estimateMessage, estimateMessages, type TokenCounter } from "../../format/tokens.ts"
import { SessionError } from "../../format/errors.ts"
import type { Message, ToolResultMessage } from "../../format/message.ts"
import { callsOf } from "../content.ts"
import type { ContextMessage, PrunedResult } from "../types.ts"
import { clearResult, isClearable, trimmableUnits, trimResult } from "./cut-result.ts"
import { type PruneOptions, pruneSettings, type PruneSettings } from "./settings.ts"

export interface PruneSizes {
  /** Tokens. Required for pruning by shares (else `invalid`). */
  readonly window?: number | undefined
  /** Tokens that the model gets in addition to the messages; default 0. */
  readonly otherTokens?: number
  /** Tokens of one message; default: an estimate. */
  readonly count?: TokenCounter | undefined
}

const SIZES: OptionNames<PruneSizes> = { window: 1, otherTokens: 1, count: 1 }

export interface Pruned<M extends Message = Message> {
  /** The same number of messages in the same order; unchanged ones are the same objects. */
  readonly messages: readonly ContextMessage<M>[]
  /** The shortened results, oldest first. */
  readonly pruned: readonly PrunedResult[]
}

/**
 * Applies the budget first, then trimming, then clearing, so that a smaller window never gives a larger context. Pruning a pruned
 * context again changes nothing. The result may still be too large for its window.
 */
export function pruneMessages<M extends Message>(
  messages: readonly ContextMessage<M>[],
  o: PruneOptions | true = true,
  sizes: PruneSizes = {},
): Pruned<M> {
  const s = pruneSettings(o)
  checkOptions("pruneMessages, sizes", sizes, SIZES)
  const { window = needsWindow(s) ? undefined : 0, otherTokens = 0, count = estimateMessage } = sizes
  if (window === undefined) {
    const message = "Pruning by shares needs the `window`: the number of tokens that the model takes."
    throw new SessionError("invalid", message)
  }
  const view = messages.map(({ message }) => message)
  const exempt = exemptResults(view, s.exemptTools)
  const eligible = eligibleResults(view, exempt, s)
  const how = new Map<number, PrunedResult["how"]>()
  let tokens = otherTokens + estimateMessages(view, count)
  const replace = (index: number, message: M, as: PrunedResult["how"]): void => {
    tokens += count(message) - count(view[index] as M)
    view[index] = message
    how.set(index, as)
  }
  const clear = (index: number): void => replace(index, clearResult(view[index] as M), "cleared")

  clearOverBudget(view, exempt, s, clear)
  let eligibleChars = 0
  for (const index of eligible) eligibleChars += contentUnits(view[index]?.content)
  if (s.softTrimShare !== false) {
    for (const index of eligible) {
      if (tokens < s.softTrimShare * window) break
      const message = view[index] as M
      if (trimmableUnits(message) <= s.trimOverChars) continue
      replace(index, trimResult(message, { head: s.trimHeadChars, tail: s.trimTailChars }), "trimmed")
    }
  }
  if (s.hardClearShare !== false && eligibleChars >= s.hardClearMinChars) {
    for (const index of eligible) {
      if (tokens < s.hardClearShare * window) break
      if (isClearable(view[index] as M)) clear(index)
    }
  }
  if (how.size === 0) return { messages, pruned: [] }
  const pruned: PrunedResult[] = []
  const changed = messages.map((item, index) => {
    const as = how.get(index)
    if (as === undefined) return item
    const message = view[index] as M
    const { toolCallId } = message as unknown as ToolResultMessage
    const [chars, charsLeft] = [contentUnits(item.message.content), contentUnits(message.content)]
    pruned.push({ entryId: item.entryId, toolCallId, how: as, chars, charsLeft })
    return { ...item, message }
  })
  return { messages: changed, pruned }
}

/**
 * Indexes, oldest first, of the results after the first user message and before the newest assistant messages, of tools that are not
 * exempt and of at least `minResultChars`.
 */
export function eligibleResults(messages: readonly Message[], exempt: readonly boolean[], s: PruneSettings): number[] {
  const from = messages.findIndex(isSaidByUser)
  const to = indexOfRecent(messages, s.keepAssistantMessages)
  const indexes: number[] = []
  if (from < 0) return indexes
  for (let i = from + 1; i < to; i++) {
    const message = messages[i] as Message
    if (message.role !== "toolResult" || exempt[i] === true) continue
    if (contentUnits(message.content) >= s.minResultChars) indexes.push(i)
  }
  return indexes
}

/** For each message, whether it is the result of an exempt tool. A result without a tool name has that of its call. */
export function exemptResults(messages: readonly Message[], tools: readonly string[]): readonly boolean[] {
  const names = new Map<string, string>()
  return messages.map((message) => {
    if (message.role === "assistant") for (const { id, name } of callsOf(message)) names.set(id, name)
    if (message.role !== "toolResult") return false
    const { toolName, toolCallId } = message
    return tools.includes(toolName ?? names.get(toolCallId) ?? "")
  })
}

/** Includes messages that are converted to user messages later: summaries and custom roles. */
function isSaidByUser({ role }: Message): boolean {
  return role !== "assistant" && role !== "toolResult" && role !== "system"
}

/** Index of the first of the `count` newest assistant messages; 0 if there are fewer. */
function indexOfRecent(messages: readonly Message[], count: number): number {
  let left = count
  let index = messages.length
  while (left > 0 && index > 0) {
    index--
    if (messages[index]?.role === "assistant") left--
  }
  return index
}

/** Clears results, oldest first, until their sum is within the budget. The newest messages and exempt tools count, but stay. */
function clearOverBudget(
  view: readonly Message[],
  exempt: readonly boolean[],
  { toolResultBudget, budgetKeepMessages }: PruneSettings,
  clear: (index: number) => void,
): void {
  if (toolResultBudget === false) return
  let sum = 0
  for (const { role, content } of view) if (role === "toolResult") sum += contentUnits(content)
  for (let i = 0; i < view.length - budgetKeepMessages && sum > toolResultBudget; i++) {
    const message = view[i] as Message
    if (message.role !== "toolResult" || exempt[i] === true || !isClearable(message)) continue
    clear(i)
    sum += contentUnits(view[i]?.content) - contentUnits(message.content)
  }
}

/** A share of 0 needs no window: every context reaches it. */
function needsWindow({ softTrimShare, hardClearShare }: PruneSettings): boolean {
  return (softTrimShare !== false && softTrimShare > 0) || (hardClearShare !== false && hardClearShare > 0)
}
