/**
 * Makes units of tokens while a conversation is read from its first message on, by the reports that were known there. A later report
 * changes nothing that was shortened before it.
 */
import type { Calibration } from "../../format/entry.ts"
import type { Message } from "../../format/message.ts"
import { isPlausible, kBetween, newest, reportedInput } from "../ruler.ts"

export class Scale {
  readonly #isScaled: boolean
  /** Tokens and units of each, in turn. */
  readonly #stretches: number[] = []
  #overhead: number
  #k = 1
  #last: { readonly model: unknown; readonly tokens: number; readonly units: number } | undefined

  constructor({ overhead = 0, measured }: Calibration = {}, isScaled: boolean) {
    this.#isScaled = isScaled
    this.#overhead = overhead
    if (measured !== undefined) this.#measured(measured.tokens, measured.units)
  }

  /** The units of messages of a request with this number of tokens. */
  unitsIn(tokens: number): number {
    return Math.max(0, (tokens - this.#overhead) / this.#k)
  }

  /** A message was shortened: the next request does not begin with the one before. */
  cut(): void {
    this.#last = undefined
  }

  /** Learns what was reported with an answer whose request had these units. */
  learn(answer: Message, units: number): void {
    const tokens = reportedInput(answer)
    const last = this.#last?.model === answer["model"] ? this.#last : undefined
    if (!isPlausible(tokens, units, last?.tokens)) return
    const more = units - (last?.units ?? units)
    if (last !== undefined && more > 0) this.#measured(kBetween(tokens - last.tokens, more) * more, more)
    this.#last = { model: answer["model"], tokens, units }
    this.#overhead = Math.max(0, tokens - this.#k * units)
  }

  #measured(ownTokens: number, ownUnits: number): void {
    this.#stretches.push(ownTokens, ownUnits)
    const { tokens, units } = newest(this.#stretches)
    if (this.#isScaled && units > 0) this.#k = tokens / units
  }
}
