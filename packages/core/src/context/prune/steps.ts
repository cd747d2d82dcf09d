/**
 * Decides which results of a conversation are shortened. They are shortened in steps: a provider reads the unchanged beginning of a
 * request from its cache, so a changed result makes it write everything behind that result again. A step shortens more than is needed
 * and must pay for this, and between two steps a context only grows at its end.
 *
 * The steps are found by reading the messages from the first to the last, as the session grew. So they depend on nothing but the
 * messages and the options, and the contexts of all processes agree. One pass; each result is shortened at most twice.
 */
import type { Calibration } from "../../format/entry.ts"
import type { Message } from "../../format/message.ts"
import { reportedInput } from "../ruler.ts"
import type { PrunedResult } from "../types.ts"
import { CLEARED_TEXT, clearResult, trimmableUnits, trimResult } from "./cut-result.ts"
import { Scale } from "./scale.ts"
import { exemptResults } from "./exempt-results.ts"
import type { PruneSettings } from "./settings.ts"
import { contentUnits } from "./sizes.ts"

/**
 * The price of a token that is read from a cache, and of one that is written to it, as parts of the price of a plain token. Anthropic:
 * 0.1 and 1.25 (https://docs.claude.com/en/docs/build-with-claude/prompt-caching, 2026-11). OpenAI and Gemini read for as much, and
 * write for 1: their breaks cost less, so what pays here pays there.
 */
export const CACHE_READ = 0.1
export const CACHE_WRITE = 1.25

/**
 * A step goes on until the context is below this part of the share that it began at, or the results within this part of their budget.
 * Simulated sessions of 60 to 300 turns cost 0.40 to 0.81 of the unpruned price with it; 0.7 costs a tenth more and keeps more.
 */
const STEP_SHARE = 0.5

/** A result as it is sent in place of the stored one. */
export interface Cut<M extends Message> {
  readonly message: M
  readonly how: PrunedResult["how"]
  /** Index of the message with which the step was taken: the first one whose context has the cut. */
  readonly step: number
}

/** `count` gives units, which `known` and the reports of the answers from `reportsFrom` on make tokens of the window. */
export interface Sizes<M extends Message> {
  readonly window: number
  /** Units of the system prompt. */
  readonly otherTokens: number
  readonly count: (message: M) => number
  readonly known?: Calibration | undefined
  readonly reportsFrom?: number | undefined
  readonly isScaled?: boolean
}

/** The cuts, by the indexes of the results. */
export function stepCuts<M extends Message>(messages: readonly M[], s: PruneSettings, sizes: Sizes<M>): Cuts<M> {
  const { window, otherTokens, count, known, reportsFrom = messages.length, isScaled = false } = sizes
  const cuts: Cuts<M> = new Map()
  const tokens = messages.map((message) => count(message))
  const shares = [s.softTrimShare, s.hardClearShare].filter((share) => share !== false)
  let total = otherTokens
  for (const own of tokens) total += own
  const scale = new Scale(known, isScaled)
  const isReported = messages.some((message, index) => index >= reportsFrom && reportedInput(message) > 0)
  if (!isReported && s.toolResultBudget === false && shares.every((share) => total < scale.unitsIn(share * window)))
    return cuts
  total = otherTokens

  const exempt = exemptResults(messages, s.exemptTools)
  const trims = new Candidates<M>(tokens, otherTokens)
  const clears = new Candidates<M>(tokens, otherTokens)
  const budget = new Budget(messages, exempt, s)
  const urgent = ((1 + Math.max(0, ...shares)) / 2) * window
  const assistants: number[] = []
  const firstSaid = messages.findIndex(isSaidByUser)
  let considered = firstSaid < 0 ? messages.length : firstSaid + 1
  let eligibleChars = 0

  for (let step = 0; step < messages.length; step++) {
    // Nothing before an answer depends on its report.
    if (step >= reportsFrom) scale.learn(messages[step] as M, total)
    total += tokens[step] as number
    if ((messages[step] as M).role === "assistant") assistants.push(step)
    const kept = Math.ceil(s.keepAssistantMessages)
    const end = kept === 0 ? step + 1 : (assistants[assistants.length - kept] ?? 0)
    for (; considered < end; considered++) consider(considered)

    const cut = (index: number, message: M, how: PrunedResult["how"]): void => {
      const change = count(message) - (tokens[index] as number)
      scale.cut()
      tokens[index] = (tokens[index] as number) + change
      total += change
      cuts.set(index, { message, how, step })
      trims.drop(index, change)
      if (how === "cleared") clears.drop(index, change)
      else clears.shorten(index, change)
    }
    const isDue = (candidates: Candidates<M>, share: number, until: number): boolean => {
      if (share === 0 || total > scale.unitsIn(window)) return true
      const least = total - candidates.gain
      if (total >= scale.unitsIn(urgent) && least < until) return true
      const part = Math.min(1, (total - until) / candidates.gain)
      const rewritten = Math.max(until, least) - candidates.tokensBefore()
      return CACHE_READ * part * candidates.carried(assistants.length) >= (CACHE_WRITE - CACHE_READ) * rewritten
    }

    const over = budget.clearFrom(step)
    for (const index of over)
      if (cuts.get(index)?.how !== "cleared") cut(index, clearResult(messages[index] as M), "cleared")
    // Messages behind the first result that the budget has cleared are written to the cache again anyway.
    const isBroken = over.length > 0
    if (s.softTrimShare !== false && trims.next !== undefined && total >= scale.unitsIn(s.softTrimShare * window)) {
      const until = scale.unitsIn(STEP_SHARE * s.softTrimShare * window)
      if (isBroken || isDue(trims, s.softTrimShare, until)) trimUntil(until)
    }
    if (s.hardClearShare === false || eligibleChars < s.hardClearMinChars || clears.next === undefined) continue
    if (total < scale.unitsIn(s.hardClearShare * window)) continue
    const until = scale.unitsIn(STEP_SHARE * s.hardClearShare * window)
    if (!isBroken && !isDue(clears, s.hardClearShare, until)) continue
    // Trimming loses less, and costs nothing more: it begins behind the first cleared result.
    if (s.softTrimShare !== false) trimUntil(0)
    for (let one = clears.next; one !== undefined && total >= until; one = clears.next)
      cut(one.index, one.message, "cleared")

    function trimUntil(until: number): void {
      for (let one = trims.next; one !== undefined && total >= until; one = trims.next)
        cut(one.index, one.message, "trimmed")
    }
  }
  return cuts

  function consider(index: number): void {
    const message = messages[index] as M
    if (message.role !== "toolResult" || exempt[index] === true) return
    const units = contentUnits(message.content)
    if (units < s.minResultChars) return
    eligibleChars += units
    if (cuts.has(index)) return
    const requests = assistants.length
    const add = (to: Candidates<M>, short: M): void =>
      to.add({ index, message: short, since: requests, gain: (tokens[index] as number) - count(short) })
    if (s.softTrimShare !== false && trimmableUnits(message) > s.trimOverChars)
      add(trims, trimResult(message, { head: s.trimHeadChars, tail: s.trimTailChars }))
    if (s.hardClearShare !== false && units > CLEARED_TEXT.length) add(clears, clearResult(message))
  }
}

type Cuts<M extends Message> = Map<number, Cut<M>>

interface Candidate<M extends Message> {
  readonly index: number
  /** The shortened result. */
  readonly message: M
  /** Tokens that it frees. */
  gain: number
  /** The number of answers when it could be shortened for the first time. */
  readonly since: number
}

/** Results that can be shortened in one way, oldest first. */
class Candidates<M extends Message> {
  readonly #tokens: readonly number[]
  readonly #list: Candidate<M>[] = []
  readonly #byIndex = new Map<number, Candidate<M>>()
  #first = 0
  /** Sums over the candidates: of `gain`, and of `gain` times `since`. */
  #gain = 0
  #weighted = 0
  /** The tokens before an index, which only moves forwards. */
  #before: number
  #at = 0

  constructor(tokens: readonly number[], otherTokens: number) {
    this.#tokens = tokens
    this.#before = otherTokens
  }

  get gain(): number {
    return this.#gain
  }

  get next(): Candidate<M> | undefined {
    for (; this.#first < this.#list.length; this.#first++) {
      const one = this.#list[this.#first] as Candidate<M>
      if (this.#byIndex.has(one.index)) return one
    }
    return undefined
  }

  add(one: Candidate<M>): void {
    this.#list.push(one)
    this.#byIndex.set(one.index, one)
    this.#count(one, 1)
  }

  /** The result has been shortened, by `change` tokens, and is no candidate any more. */
  drop(index: number, change: number): void {
    if (index < this.#at) this.#before += change
    const one = this.#byIndex.get(index)
    if (one === undefined) return
    this.#count(one, -1)
    this.#byIndex.delete(index)
  }

  /** The result has been shortened, by `change` tokens, and can be shortened further. */
  shorten(index: number, change: number): void {
    if (index < this.#at) this.#before += change
    const one = this.#byIndex.get(index)
    if (one === undefined) return
    this.#count(one, -1)
    one.gain += change
    this.#count(one, 1)
  }

  /** The tokens that these candidates would have saved if they had been shortened at once: their gain at each request since. */
  carried(requests: number): number {
    return requests * this.#gain - this.#weighted
  }

  /** The tokens before the first candidate, which a step leaves as they are. */
  tokensBefore(): number {
    const first = this.next?.index ?? this.#at
    for (; this.#at < first; this.#at++) this.#before += this.#tokens[this.#at] as number
    return this.#before
  }

  #count({ gain, since }: Candidate<M>, sign: 1 | -1): void {
    this.#gain += sign * gain
    this.#weighted += sign * gain * since
  }
}

/**
 * The results that the budget clears. It counts the stored results, whatever the shares have shortened, so that it clears the same ones
 * for every window.
 */
class Budget {
  readonly #messages: readonly Message[]
  readonly #exempt: readonly boolean[]
  readonly #settings: PruneSettings
  #units = 0
  #next = 0

  constructor(messages: readonly Message[], exempt: readonly boolean[], settings: PruneSettings) {
    this.#messages = messages
    this.#exempt = exempt
    this.#settings = settings
  }

  /** The indexes of the results to clear once the message at `step` has been added. */
  clearFrom(step: number): readonly number[] {
    const { toolResultBudget, budgetKeepMessages } = this.#settings
    const { role, content } = this.#messages[step] as Message
    if (role === "toolResult") this.#units += contentUnits(content)
    const cleared: number[] = []
    if (toolResultBudget === false || this.#units <= toolResultBudget) return cleared
    const until = STEP_SHARE * toolResultBudget
    for (; this.#next < step + 1 - budgetKeepMessages && this.#units > until; this.#next++) {
      const message = this.#messages[this.#next] as Message
      const units = contentUnits(message.content)
      if (message.role !== "toolResult" || this.#exempt[this.#next] === true || units <= CLEARED_TEXT.length) continue
      this.#units -= units - CLEARED_TEXT.length
      cleared.push(this.#next)
    }
    return cleared
  }
}

/** Includes messages that are converted to user messages later: summaries and custom roles. */
function isSaidByUser({ role }: Message): boolean {
  return role !== "assistant" && role !== "toolResult" && role !== "system"
}
