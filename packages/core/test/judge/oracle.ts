/**
 * The oracle: a player with the same rules as the library that knows what each request really costs, and has no log and no estimates. What
 * it pays, and how often it is refused, is what the rules themselves cost.
 */
import type { AssistantMessage, ModelMessage, ToolResultMessage, UserMessage } from "@sessions/core"
import { createDice, type Dice } from "../dice.ts"
import { imagesIn, remark, textsIn } from "./author.ts"
import type { Player } from "./play.ts"
import { sizeOf } from "./provider.ts"
import { summaryTokens } from "./summarizer.ts"
import { createTally } from "./tally.ts"
import { textOf } from "./texts.ts"
import { PER_MESSAGE, thumb } from "./tokenizers.ts"
import { isPossible, LEAST, type Said } from "./unread.ts"
import type { Model, World } from "./world.ts"

/** A message of its context, with what is left of it in the view. */
interface Held {
  readonly n: number
  readonly role: ModelMessage["role"] | "summary"
  /** The text in tokens of no model, in tokens by the rule of thumb, and in bytes. */
  readonly text: number
  readonly units: number
  readonly bytes: number
  readonly images: number
  readonly imageBytes: number
  readonly calls: boolean
  /** Carried behind a summary. */
  readonly carried?: boolean
  /** The share of the text that is left, and whether the images are. */
  left: number
  hasImages: boolean
}

interface Plan {
  readonly first: number
  readonly carried: readonly Held[]
}

const WORD_FOR_IMAGE = 10
/** Of the room between the overhead and the limit: what a compaction aims at. */
const AIM = 0.75
const FIRST_SUMMARY = 800
const MOST_SUMMARIES = 3
const NO_CUT = Number.POSITIVE_INFINITY

export class Oracle implements Player {
  readonly tally = createTally()
  readonly #world: World
  #model: Model
  #dice: Dice
  #overhead = 1
  #numbers = 0
  #said: Said[] = []
  #context: Held[] = []
  #asked = 0
  #failures = 0
  #added = 1
  #lastSummary = FIRST_SUMMARY
  /** What the ladder has done since the last answer. */
  #ladder = { summaries: 0, kept: NO_CUT, cut: NO_CUT }
  /** The smallest form that was refused, by model. */
  #ended = new Map<Model, number>()

  constructor(world: World) {
    this.#world = world
    this.#model = world.models[0] as Model
    this.#dice = createDice(world.seed ^ 0x7e57)
  }

  next(): number {
    return this.#numbers++
  }

  say(message: UserMessage | ToolResultMessage, n: number): Promise<void> {
    this.#add(message, n)
    // A new message begins the cuts anew, and allows one more summary.
    this.#ladder.cut = NO_CUT
    this.#ladder.summaries = Math.min(this.#ladder.summaries, MOST_SUMMARIES - 1)
    return Promise.resolve()
  }

  #add(message: ModelMessage, n: number): void {
    const bare: Model = { ...this.#model, factor: 1, image: 0 }
    const { tokens } = sizeOf(message, bare, this.#world)
    const images = imagesIn(message)
    const imageBytes = images.reduce((sum, { length }) => sum + length, 0)
    const units = textsIn(message).reduce((sum, text) => sum + thumb(text), 0)
    this.tally.messages++
    this.#added++
    this.#said.push({ n, message })
    this.#context.push({
      n,
      role: message.role,
      text: tokens - PER_MESSAGE,
      units: Math.max(1, units),
      bytes: sizeOf(message, bare, this.#world).bytes - imageBytes,
      images: images.length,
      imageBytes,
      calls: message.content.some(({ type }) => type === "toolCall"),
      left: 1,
      hasImages: images.length > 0,
    })
  }

  switchTo(model: number): Promise<void> {
    const to = this.#world.models[model] as Model
    if (to !== this.#model) {
      if (to.window > this.#model.window) for (const held of this.#context) restore(held)
      this.#model = to
      this.#begin()
    }
    return Promise.resolve()
  }

  scaleOverhead(by: number): void {
    const { overhead, window } = this.#world.models[0] as Model
    this.#overhead = overhead === 0 ? 1 : Math.min(this.#overhead * by, (0.95 * window) / overhead)
  }

  deletable(): readonly { readonly n: number; readonly size: number }[] {
    return this.#context.flatMap(({ n, role, carried, text }) =>
      role === "user" && carried !== true ? [{ n, size: text }] : [],
    )
  }

  remove(n: number): Promise<void> {
    this.#said = this.#said.filter((said) => said.n !== n)
    this.#context = this.#context.filter((held) => held.n !== n || held.carried === true)
    this.#begin()
    return Promise.resolve()
  }

  rest(): Promise<void> {
    return Promise.resolve()
  }

  /** After a change of the model or a deletion. */
  #begin(): void {
    this.#failures = 0
    this.#added = 1
    this.#ladder = { summaries: 0, kept: NO_CUT, cut: NO_CUT }
  }

  ask(make: (n: number) => AssistantMessage): Promise<AssistantMessage | false> {
    const paid = this.tally.paid
    for (let refusals = 0; ; ) {
      this.#compactIfDue()
      if (this.#size() >= this.#model.window) this.#shorten()
      this.tally.sends++
      const isTooLong = this.#size() > this.#model.window
      if (!isTooLong && this.#bytes() <= this.#world.maxBytes) return Promise.resolve(this.#accept(make))
      const possible = isPossible(this.#said, this.#model, this.#overhead, this.#world)
      this.tally[possible ? "refusedPossible" : "refusedImpossible"]++
      if (possible) this.tally.mostRefusals = Math.max(this.tally.mostRefusals, ++refusals)
      if (this.#dice.chance(this.#world.types)) {
        const n = this.next()
        void this.say(remark("And please be quick.", n), n)
      }
      if (this.#climb(!isTooLong)) continue
      if (possible) this.tally.stuck++
      else {
        this.tally.ended++
        this.tally.paidImpossible += this.tally.paid - paid
      }
      return Promise.resolve(false)
    }
  }

  #accept(make: (n: number) => AssistantMessage): AssistantMessage {
    const unread = this.#unread()
    const question = this.#question()
    for (const held of this.#context) {
      const isCut = held.left < 1 || held.hasImages !== held.images > 0
      if (isCut && held === question) this.tally.cutQuestions++
      if (isCut && this.#context.indexOf(held) >= unread && held.role === "toolResult") this.tally.cutResults++
    }
    const n = this.next()
    const message = make(n)
    this.#add(message, n)
    this.#ended.clear()
    this.#ladder = { summaries: 0, kept: NO_CUT, cut: NO_CUT }
    return message
  }

  #tokens = ({ text, left, images, hasImages }: Held): number =>
    (PER_MESSAGE + text * left) * this.#model.factor + images * (hasImages ? this.#model.image : WORD_FOR_IMAGE)
  #bytesOf = ({ bytes, left, hasImages, imageBytes }: Held): number => bytes * left + (hasImages ? imageBytes : 0)

  #own(): number {
    return this.#model.overhead * this.#overhead
  }
  #size(): number {
    return this.#own() + total(this.#context, this.#tokens)
  }
  #bytes(): number {
    return total(this.#context, this.#bytesOf)
  }

  /** Where the part begins that the model has not read. */
  #unread(): number {
    const context = this.#context
    const last = context.findLastIndex(({ role }) => role === "assistant")
    let unread = last >= 0 && context[last]?.calls === true ? last : last + 1
    while (unread < context.length && isLead(context[unread] as Held)) unread++
    return unread
  }
  #question(): Held | undefined {
    return this.#context.findLast(({ role }) => role === "user")
  }

  #due(): number {
    const { reserveTokens, thresholdTokens, thresholdShare } = this.#world.settings
    const { window } = this.#model
    const due = thresholdTokens ?? (thresholdShare === undefined ? undefined : thresholdShare * window)
    return Math.min(window, due ?? window - (reserveTokens ?? Math.min(16_384, window / 4)))
  }

  #compactIfDue(): void {
    if (this.#bytes() > this.#world.maxBytes) this.#dropImages(false, this.#world.maxBytes)
    if (this.#bytes() > this.#world.maxBytes) this.#dropImages(true, this.#world.maxBytes)
    const due = this.#due()
    if (this.#size() < due || this.#failures >= 3 || this.#added < 1) return
    const plan = this.#plan(this.#own() + (due - this.#own()) * AIM, NO_CUT, true)
    if (plan === undefined) this.#fail()
    else this.#compact(plan)
  }

  #fail(): void {
    this.#failures++
    this.#added = 0
  }

  /**
   * Where to cut so that the context has at most `aim`, keeping at most `most`. Undefined: nothing can be cut, or, for an automatic
   * compaction, no cut reaches the aim.
   */
  #plan(aim: number, most: number, automatic: boolean): Plan | undefined {
    const context = this.#context
    const n = context.length
    const lead = context.findIndex((held) => !isLead(held))
    const begin = lead < 0 ? n : lead
    const question = this.#question()
    const behind = new Float64Array(n + 1)
    for (let i = n - 1; i >= 0; i--) behind[i] = (behind[i + 1] as number) + this.#tokens(context[i] as Held)
    let unread = this.#unread()
    const room = (aim - this.#own()) / 2
    while (unread < n - 1 && context[unread]?.role === "user" && (behind[unread] as number) > room) unread++
    const wanted = Math.min(unread, this.#keep(begin, behind))
    const carriedAt = (at: number): Held[] =>
      question !== undefined && context.indexOf(question) < at ? [question] : []
    const summary = Math.min(this.#lastSummary, this.#mostSummary()) * this.#model.factor
    const after = (at: number): number =>
      this.#own() + summary + (behind[at] as number) + total(carriedAt(at), this.#tokens)
    const old = context[0]
    const ofSummary = most < NO_CUT && old?.role === "summary" && old.units > 2 * LEAST
    let best: number | undefined
    for (let at = Math.max(wanted, begin); at <= unread; at++) {
      if (at < n && context[at]?.role === "toolResult") continue
      if (at === begin && !(ofSummary && at === unread)) continue
      if ((behind[at] as number) > most && at < unread) continue
      best = at
      if (after(at) < aim) return { first: at, carried: carriedAt(at) }
    }
    if (best === undefined || automatic) return undefined
    return after(best) < this.#size() * 0.98 || most < NO_CUT ? { first: best, carried: carriedAt(best) } : undefined
  }

  #keep(begin: number, behind: Float64Array): number {
    const { keepRecentTokens, keepTurns, keepMessages } = this.#world.settings
    let at = this.#context.length
    if (keepMessages !== undefined) return Math.max(begin, at - keepMessages)
    if (keepTurns !== undefined) {
      for (let turns = 0; at > begin && turns < keepTurns; ) if (this.#context[--at]?.role === "user") turns++
      return at
    }
    const wanted = keepRecentTokens ?? Math.min(20_000, this.#due() / 3)
    while (at > begin && (behind[at] as number) < wanted) at--
    return at
  }

  #mostSummary(): number {
    const { window } = this.#model
    return 0.8 * Math.min(16_384, window / 4)
  }

  #compact({ first, carried }: Plan): boolean {
    const history = this.#context.slice(0, first).filter((held) => !carried.includes(held))
    const kept = this.#context.slice(first)
    const tokens = total(history, (held) => this.#tokens({ ...held, hasImages: false }))
    this.tally.paid += Math.max(1, Math.ceil(tokens / (0.7 * this.#model.window)))
    const dice = createDice(this.#world.seed ^ this.#asked++)
    if (dice.chance(this.#world.fails)) {
      this.#fail()
      return false
    }
    if (dice.chance(this.#world.moved)) {
      const n = this.next()
      void this.say(remark(textOf(dice, "english", 5 + dice.below(200)), n), n)
      kept.push(this.#context.at(-1) as Held)
    }
    const free = this.#due() - this.#own() - total(kept, this.#tokens)
    const most = Math.min(this.#mostSummary(), Math.max(80, free / 2))
    const size = summaryTokens(dice.below(2 ** 31), tokens, most, this.#world.models[0] as Model)
    const units = this.#unitsOf(size)
    const summary: Held = {
      n: -1,
      role: "summary",
      text: size / this.#model.factor,
      units,
      bytes: units * 4,
      images: 0,
      imageBytes: 0,
      calls: false,
      left: 1,
      hasImages: false,
    }
    this.#context = [summary, ...carried.map((held) => ({ ...held, carried: true })), ...kept]
    this.tally.compactions++
    this.#lastSummary = units
    this.#added = 0
    this.#ladder.summaries++
    this.#ladder.kept = total(kept, this.#tokens)
    if (this.#size() >= this.#due()) this.#failures++
    return true
  }

  /** Of English text with so many tokens. */
  #unitsOf(tokens: number): number {
    const line = textOf(createDice(7), "english", 15)
    return (tokens * thumb(line)) / (this.#world.count(line) * this.#model.factor)
  }

  /** Before a request that does not fit: what is free of a wrong answer. */
  #shorten(): void {
    const before = this.tally.compactions
    for (let step = 0; step < 8 && this.#size() >= this.#model.window; step++)
      if (!this.#free(false) && !this.#summarize(false)) return
    if (this.tally.compactions === before) return
  }

  /** Old results and old images. */
  #free(byBytes: boolean): boolean {
    if (this.#shortenResults() && this.#fits(byBytes)) return true
    return this.#dropImages(false, byBytes ? this.#world.maxBytes : undefined) && this.#fits(byBytes)
  }

  #fits(byBytes: boolean): boolean {
    return byBytes ? this.#bytes() <= this.#world.maxBytes : this.#size() < this.#model.window
  }

  #shortenResults(): boolean {
    const answers = this.#context.flatMap(({ role }, i) => (role === "assistant" ? [i] : []))
    const old = this.#context.slice(0, answers.at(-3) ?? 0)
    const long = old.filter(({ role, units, left }) => role === "toolResult" && units * left > 500)
    for (const held of long) held.left = Math.min(held.left, 250 / held.units)
    return long.length > 0
  }

  #dropImages(unread: boolean, bytes?: number): boolean {
    const from = this.#unread()
    const question = this.#question()
    let dropped = false
    this.#context.forEach((held, i) => {
      if (!held.hasImages || (!unread && (i >= from || held === question))) return
      if (bytes !== undefined && this.#bytes() <= bytes) return
      held.hasImages = false
      dropped = true
    })
    return dropped
  }

  #summarize(byBytes: boolean): boolean {
    const ended = this.#ended.get(this.#model)
    if (ended !== undefined && ended <= this.#smallest() * 1.02) return false
    const { summaries, kept } = this.#ladder
    if (summaries >= MOST_SUMMARIES) return false
    const most = summaries === 0 ? NO_CUT : summaries === 1 ? Math.min(kept, this.#size()) / 2 : 0
    const aim = byBytes ? NO_CUT : this.#model.window
    const plan = this.#plan(aim, most, false)
    return plan !== undefined && this.#compact(plan)
  }

  /** One step after a refusal; false at the end. */
  #climb(byBytes: boolean): boolean {
    if (this.#free(byBytes) || this.#summarize(byBytes)) return true
    if (this.#dropImages(true, byBytes ? this.#world.maxBytes : undefined)) return true
    if (this.#cut(byBytes) || this.#leaveOut()) return true
    this.#ended.set(this.#model, this.#smallest())
    return false
  }

  /** Cuts all texts to the largest size that fits, at most half of the last one. */
  #cut(byBytes: boolean): boolean {
    const { cut } = this.#ladder
    const target = (byBytes ? this.#world.maxBytes : this.#model.window) * 0.95
    const most = Math.min(cut / 2, Math.max(...this.#context.map(({ units, left }) => units * left)))
    if (cut <= LEAST || most < LEAST) return false
    const at = (size: number): number => {
      const cutTo = (held: Held): Held => ({ ...held, left: Math.min(held.left, size / held.units) })
      const context = this.#context.map(cutTo)
      return byBytes ? total(context, this.#bytesOf) : this.#own() + total(context, this.#tokens)
    }
    let low = LEAST
    let high = most
    for (let i = 0; i < 20; i++) {
      const middle = (low + high) / 2
      if (at(middle) < target) low = middle
      else high = middle
    }
    for (const held of this.#context) held.left = Math.min(held.left, low / held.units)
    this.#ladder.cut = low
    return true
  }

  /** Leaves older pending messages out, with a line that says so. */
  #leaveOut(): boolean {
    const unread = this.#unread()
    const question = this.#question()
    const others = this.#context.filter(
      (held, i) => held !== question && (i < unread || held.role === "user") && held.units * held.left > 3,
    )
    for (const held of others) {
      held.left = Math.min(held.left, 2 / held.units)
      held.hasImages = false
    }
    return others.length > 0
  }

  /** The tokens of the question and what is unread, each at {@link LEAST}. */
  #smallest(): number {
    const unread = this.#unread()
    const question = this.#question()
    return total(this.#context, (held) =>
      held === question || (this.#context.indexOf(held) >= unread && held.role !== "user")
        ? this.#tokens({ ...held, left: Math.min(1, LEAST / held.units), hasImages: false })
        : 0,
    )
  }
}

/** A summary, or a message that is carried behind it. */
const isLead = ({ role, carried }: Held): boolean => role === "summary" || carried === true

function restore(held: Held): void {
  held.left = 1
  held.hasImages = held.images > 0
}

function total(context: readonly Held[], size: (held: Held) => number): number {
  let sum = 0
  for (const held of context) sum += size(held)
  return sum
}
