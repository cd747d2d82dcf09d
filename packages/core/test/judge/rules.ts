/**
 * The rules of docs/compaction.md as a player, without a log: what they decide depends on what they know of the sizes. With the truth they
 * are the oracle, whose payments and refusals are what the rules themselves cost. With a ruler they are a model of the library.
 */
import type { AssistantMessage, ModelMessage, ToolResultMessage, UserMessage } from "@sessions/core"
import { createDice, type Dice } from "../dice.ts"
import { imagesIn, remark, textsIn } from "./author.ts"
import { type Held, type Knowledge, Ruler, type RulerFaults, total, Truth } from "./knowledge.ts"
import type { Law } from "./laws.ts"
import type { Player } from "./play.ts"
import { TOO_LONG } from "./refusals.ts"
import { type Size, sizeOf, usageOf } from "./provider.ts"
import { summaryTokens } from "./summarizer.ts"
import { createTally, type Prediction } from "./tally.ts"
import { textOf } from "./texts.ts"
import { PER_MESSAGE, thumb } from "./tokenizers.ts"
import { CLEARLY, isPossible, LEAST, type Said, smallestUnits, unitsByThumb, unreadOf } from "./unread.ts"
import type { Model, World } from "./world.ts"

interface Plan {
  readonly first: number
  readonly carried: readonly Held[]
}

/** Of the room between the overhead and the limit: what a compaction aims at. */
const AIM = 0.75
const FIRST_SUMMARY = 800
const MOST_SUMMARIES = 3
const PROMISED_REFUSALS = 14
const MOST_REFUSALS = 60
const NO_CUT = Number.POSITIVE_INFINITY

/** Rules that can be left out, to see what each is for. */
export interface RuleFaults extends RulerFaults {
  /** The aim is the limit itself. */
  readonly aimIsLimit?: boolean
  /** Also in overflow a summary is asked for only if the cut reaches the aim. */
  readonly aimInOverflow?: boolean
  /** Only results of open calls are protected, and no question. */
  readonly unprotected?: boolean
  /** All pending messages are protected, however many. */
  readonly protectsAll?: boolean
  /** What the view shortened is whole again after an answer. */
  readonly viewOnce?: boolean
  /** The ladder begins behind a refusal. */
  readonly onlyAfterRefusal?: boolean
  /** A new message does not begin the cuts anew. */
  readonly staysExhausted?: boolean
  readonly keepsImages?: boolean
  readonly neverLeavesOut?: boolean
  readonly noHalves?: boolean
  /** After the end of the ladder a new message pays again. */
  readonly paysAgain?: boolean
  readonly longSummaries?: boolean
}

export class Rules implements Player {
  readonly tally = createTally()
  readonly predictions: Prediction[] = []
  readonly broken = new Map<Law, string>()
  endedForGood = false
  readonly #world: World
  readonly #truth: Truth
  readonly #knows: Knowledge
  readonly #faults: RuleFaults
  /** What the program takes for the window, over the true one. */
  readonly #belief: number
  #model: Model
  #dice: Dice
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
  /** A compaction whose context no report has measured. */
  #isUnmeasured = false
  #isChanged = false
  #reports = new Map<Model, number>()
  #sent: { readonly tokens: number; readonly overhead: number; readonly model: Model } | undefined
  /** The smallest form of the request that is asked, which new messages change. */
  #smallestAsked = Number.POSITIVE_INFINITY
  #given: { readonly model: Model; readonly smallest: number } | undefined

  constructor(world: World, { ruler, ...faults }: RuleFaults & { readonly ruler: boolean }) {
    this.#world = world
    this.#faults = faults
    this.#truth = new Truth(world)
    this.#knows = ruler ? new Ruler(world, faults) : this.#truth
    this.#belief = ruler ? world.belief : 1
    this.#model = world.models[0] as Model
    this.#dice = createDice(world.seed ^ 0x7e57)
  }

  next(): number {
    return this.#numbers++
  }

  say(message: UserMessage | ToolResultMessage, n: number): Promise<void> {
    this.#add(message, n)
    // A new message begins the cuts anew, and allows one more summary.
    if (this.#faults.staysExhausted === true) return Promise.resolve()
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
    this.#smallestAsked = Math.min(this.#smallestAsked, smallestUnits(this.#said, unitsByThumb))
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
      measured: new Map(),
    })
  }

  switchTo(model: number): Promise<void> {
    const to = this.#world.models[model] as Model
    if (to !== this.#model) {
      if (to.window > this.#model.window) for (const held of this.#context) restore(held)
      this.#model = to
      this.#change()
      this.#begin()
    }
    return Promise.resolve()
  }

  scaleOverhead(by: number): void {
    const { overhead, window } = this.#world.models[0] as Model
    this.#truth.factor = overhead === 0 ? 1 : Math.min(this.#truth.factor * by, (0.95 * window) / overhead)
  }

  deletable(): readonly { readonly n: number; readonly size: number }[] {
    return this.#context.flatMap(({ n, role, carried, text }) =>
      role === "user" && carried !== true ? [{ n, size: text }] : [],
    )
  }

  remove(n: number): Promise<void> {
    this.#said = this.#said.filter((said) => said.n !== n)
    this.#context = this.#context.filter((held) => held.n !== n || held.carried === true)
    this.#change()
    this.#begin()
    return Promise.resolve()
  }

  rest(): Promise<void> {
    return Promise.resolve()
  }

  /** The context is not the last one with messages behind it. */
  #change(): void {
    this.#isChanged = true
    this.#knows.changed()
  }

  /** After a change of the model or a deletion. */
  #begin(): void {
    this.#failures = 0
    this.#added = 1
    this.#ladder = { summaries: 0, kept: NO_CUT, cut: NO_CUT }
  }

  ask(make: (n: number) => AssistantMessage): Promise<AssistantMessage | false> {
    const { paid, compactions } = this.tally
    const numbers = this.#numbers
    this.#smallestAsked = smallestUnits(this.#said, unitsByThumb)
    for (let refusals = 0; ; ) {
      this.#compactIfDue()
      if (this.#faults.onlyAfterRefusal !== true && this.#size() >= this.#limit()) this.#shorten()
      this.tally.sends++
      const size = this.#trueSize()
      this.#check(size.tokens)
      const isTooLong = size.tokens > this.#model.window
      const hasManyImages = size.images > this.#world.maxImages
      if (!isTooLong && !hasManyImages && size.bytes <= this.#world.maxBytes)
        return Promise.resolve(this.#accept(make, size))
      const possible = isPossible(this.#said, this.#model, this.#truth.factor, this.#world)
      this.tally[possible ? "refusedPossible" : "refusedImpossible"]++
      if (possible && this.#sent !== undefined && !this.#reports.has(this.#model)) this.tally.refusedNew++
      if (possible) this.tally.mostRefusals = Math.max(this.tally.mostRefusals, ++refusals)
      if (refusals > PROMISED_REFUSALS) this.broken.set("accepted", `refused ${refusals} times`)
      if (!isTooLong && hasManyImages) {
        this.#knows.refusedImages(this.#world.maxImages)
        continue
      }
      const count = isTooLong && countsTokens(this.#world) ? size.tokens : undefined
      this.#knows.refused(this.#context, this.#model, isTooLong ? "tokens" : "bytes", count, size.bytes)
      if (this.#dice.chance(this.#world.types)) {
        const n = this.next()
        void this.say(remark("And please be quick.", n), n)
      }
      if (refusals <= MOST_REFUSALS && this.#climb(!isTooLong)) continue
      if (possible) {
        this.tally.stuck++
        this.endedForGood = true
        this.broken.set("accepted", "a possible request was given up")
      } else {
        this.tally.ended++
        this.tally.paidImpossible += this.tally.paid - paid
        this.#giveUp(this.tally.compactions - compactions, this.#numbers - numbers)
      }
      return Promise.resolve(false)
    }
  }

  #giveUp(compactions: number, added: number): void {
    const smallest = this.#smallestAsked
    const again = this.#given?.model === this.#model && smallest >= CLEARLY * this.#given.smallest
    if (compactions > (again ? 0 : MOST_SUMMARIES + added)) this.broken.set("unpaid", `${compactions} compactions`)
    const given = this.#given?.model === this.#model ? this.#given.smallest : Number.POSITIVE_INFINITY
    this.#given = { model: this.#model, smallest: Math.min(given, smallestUnits(this.#said, unitsByThumb)) }
  }

  /** Laws of a request. */
  #check(tokens: number): void {
    const sent = new Set(this.#context.map(({ n }) => n))
    for (const { n, message } of unreadOf(this.#said))
      if (!sent.has(n)) this.broken.set(message.role === "user" ? "question" : "unread", `a request lacks message ${n}`)
    if (this.#world.report !== "always" || (this.#reports.get(this.#model) ?? 0) < 2) return
    if (this.#sent?.model !== this.#model || this.#sent.overhead !== this.#truth.factor) return
    const since = this.#isChanged ? "changed" : tokens <= this.#sent.tokens * 1.2 ? "same" : "new"
    this.predictions.push({ error: Math.abs(this.#size() - tokens) / tokens, since })
  }

  #accept(make: (n: number) => AssistantMessage, { tokens, bytes }: Size): AssistantMessage {
    const unread = this.#unread()
    const question = this.#question()
    for (const held of this.#context) {
      const isCut = held.left < 1 || held.hasImages !== held.images > 0
      if (isCut && held === question) this.tally.cutQuestions++
      if (isCut && this.#context.indexOf(held) >= unread && held.role === "toolResult") this.tally.cutResults++
    }
    const n = this.next()
    const message = make(n)
    const output = sizeOf(message, this.#model, this.#world).tokens
    const isFirst = this.#isUnmeasured || this.#sent === undefined
    const usage = usageOf(this.#dice, tokens, output, isFirst, this.#world)
    this.#knows.answered(this.#context, this.#model, usage, bytes)
    if (this.#isUnmeasured && usage !== undefined && this.#size() >= this.#due()) this.#failures++
    else if (this.#isUnmeasured) this.#failures = 0
    this.#isUnmeasured = false
    this.#isChanged = false
    this.#sent = { tokens, overhead: this.#truth.factor, model: this.#model }
    this.#reports.set(this.#model, (this.#reports.get(this.#model) ?? 0) + 1)
    this.#given = undefined
    this.endedForGood = false
    if (this.#faults.viewOnce === true) for (const held of this.#context) restore(held)
    this.#add(message, n)
    this.#ended.clear()
    this.#ladder = { summaries: 0, kept: NO_CUT, cut: NO_CUT }
    return message
  }

  #tokens = (held: Held): number => this.#knows.tokens(held, this.#model)
  #bytesOf = ({ bytes, left, hasImages, imageBytes }: Held): number => bytes * left + (hasImages ? imageBytes : 0)

  #own(): number {
    return this.#knows.overhead(this.#model)
  }
  #size(): number {
    return this.#own() + total(this.#context, this.#tokens)
  }
  #bytes(): number {
    return total(this.#context, this.#bytesOf)
  }
  #images(): number {
    return total(this.#context, ({ images, hasImages }) => (hasImages ? images : 0))
  }
  #limit(): number {
    return this.#knows.limit(this.#model)
  }
  #trueSize(): Size {
    const tokens = total(this.#context, (held) => this.#truth.tokens(held, this.#model))
    return {
      tokens: Math.ceil(tokens + this.#truth.overhead(this.#model)),
      bytes: this.#bytes(),
      images: this.#images(),
    }
  }

  /** Where the part begins that the model has not read. */
  #unread(): number {
    const context = this.#context
    const last = context.findLastIndex(({ role }) => role === "assistant")
    if (this.#faults.unprotected === true) return context.length
    let unread = last >= 0 && context[last]?.calls === true ? last : last + 1
    while (unread < context.length && isLead(context[unread] as Held)) unread++
    return unread
  }
  #question(): Held | undefined {
    return this.#context.findLast(({ role }) => role === "user")
  }

  #due(): number {
    const { reserveTokens, thresholdTokens, thresholdShare } = this.#world.settings
    const window = this.#model.window * this.#belief
    const due = thresholdTokens ?? (thresholdShare === undefined ? undefined : thresholdShare * window)
    return Math.min(this.#limit(), due ?? window - (reserveTokens ?? Math.min(16_384, window / 4)))
  }

  #compactIfDue(): void {
    for (const unread of [false, true]) if (!this.#takesImages()) this.#dropImages(unread, () => this.#takesImages())
    const due = this.#due()
    if (this.#size() < due || this.#failures >= 3 || this.#added < 1 || this.#isHopeless()) return
    const plan = this.#plan(
      this.#own() + (due - this.#own()) * (this.#faults.aimIsLimit === true ? 1 : AIM),
      NO_CUT,
      true,
    )
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
    while (
      this.#faults.protectsAll !== true &&
      unread < n - 1 &&
      context[unread]?.role === "user" &&
      (behind[unread] as number) > room
    )
      unread++
    const wanted = Math.min(unread, this.#keep(begin, behind))
    const carriedAt = (at: number): Held[] =>
      this.#faults.unprotected !== true && question !== undefined && context.indexOf(question) < at ? [question] : []
    const summary = Math.min(this.#lastSummary, this.#mostSummary()) * this.#knows.perUnit(this.#model)
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
    if (best === undefined || automatic || this.#faults.aimInOverflow === true) return undefined
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
    const window = this.#model.window * this.#belief
    return 0.8 * Math.min(16_384, window / 4)
  }

  #compact({ first, carried }: Plan): boolean {
    const history = this.#context.slice(0, first).filter((held) => !carried.includes(held))
    const kept = this.#context.slice(first)
    const tokens = total(history, (held) => this.#truth.tokens(toldOf(held), this.#model))
    // The beginning of a turn has a request of its own, unless its question follows the summary.
    const start =
      kept[0]?.role === "user" || carried.length > 0 ? 0 : history.findLastIndex(({ role }) => role === "user")
    const parts = start > 0 && !history.slice(0, start).every(isLead) && kept.length > 0 ? 2 : 1
    this.tally.paid += Math.max(parts, Math.ceil(tokens / (0.7 * this.#model.window * this.#belief)))
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
    const most = Math.min(this.#mostSummary(), this.#faults.longSummaries === true ? NO_CUT : Math.max(80, free / 2))
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
      measured: new Map(),
    }
    this.#context = [summary, ...carried.map((held) => ({ ...held, carried: true })), ...kept]
    this.tally.compactions++
    this.#isUnmeasured = true
    this.#change()
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
    for (let step = 0; step < 8 && this.#size() >= this.#limit(); step++)
      if (!this.#free(false) && !this.#summarize(false)) return
    if (this.tally.compactions === before) return
  }

  /** Old results and old images. */
  #free(byBytes: boolean): boolean {
    if (this.#shortenResults() && this.#fits(byBytes)) return true
    return this.#dropImages(false, byBytes ? () => this.#fits(true) : undefined) && this.#fits(byBytes)
  }

  #fits(byBytes: boolean): boolean {
    return byBytes ? this.#bytes() <= this.#knows.bytes() : this.#size() < this.#limit()
  }

  #shortenResults(): boolean {
    const answers = this.#context.flatMap(({ role }, i) => (role === "assistant" ? [i] : []))
    const old = this.#context.slice(0, answers.at(-3) ?? 0)
    const long = old.filter(({ role, units, left }) => role === "toolResult" && units * left > 500)
    for (const held of long) held.left = Math.min(held.left, 250 / held.units)
    if (long.length > 0) this.#change()
    return long.length > 0
  }

  /** Oldest first, until it is enough; without `isEnough` all, which spares tokens. */
  #dropImages(unread: boolean, isEnough?: () => boolean): boolean {
    if (this.#faults.keepsImages === true && isEnough === undefined) return false
    const from = this.#unread()
    const question = this.#question()
    let dropped = false
    this.#context.forEach((held, i) => {
      if (!held.hasImages || (!unread && (i >= from || held === question))) return
      if (isEnough?.() === true) return
      held.hasImages = false
      dropped = true
      this.#change()
    })
    return dropped
  }

  /** A form that is not larger was refused in the end. */
  #isHopeless(): boolean {
    const ended = this.#ended.get(this.#model)
    return ended !== undefined && ended <= this.#smallest() * 1.02 && this.#faults.paysAgain !== true
  }

  /** By bytes and by number. */
  #takesImages(): boolean {
    return this.#fits(true) && this.#images() <= this.#knows.images()
  }

  #summarize(byBytes: boolean): boolean {
    if (this.#isHopeless()) return false
    const { summaries, kept } = this.#ladder
    if (summaries >= (this.#faults.noHalves === true ? 1 : MOST_SUMMARIES)) return false
    const most = summaries === 0 ? NO_CUT : summaries === 1 ? Math.min(kept, this.#size()) / 2 : 0
    const aim = byBytes ? NO_CUT : this.#limit()
    const plan = this.#plan(aim, most, false)
    return plan !== undefined && this.#compact(plan)
  }

  /** One step after a refusal; false at the end. */
  #climb(byBytes: boolean): boolean {
    if (this.#free(byBytes) || this.#summarize(byBytes)) return true
    if (this.#dropImages(true, byBytes ? () => this.#fits(true) : undefined)) return true
    if (this.#cut(byBytes) || (this.#faults.neverLeavesOut !== true && this.#leaveOut())) return true
    this.#ended.set(this.#model, Math.min(this.#smallest(), this.#ended.get(this.#model) ?? NO_CUT))
    return false
  }

  /** Cuts all texts to the largest size that fits, at most half of the last one. */
  #cut(byBytes: boolean): boolean {
    const { cut } = this.#ladder
    const target = (byBytes ? this.#knows.bytes() : this.#limit()) * 0.95
    const largest = Math.max(...this.#context.map(({ units, left }) => units * left))
    if (cut <= LEAST || largest <= LEAST) return false
    const most = Math.max(LEAST, Math.min(cut / 2, largest))
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
    this.#change()
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
    if (others.length > 0) this.#change()
    return others.length > 0
  }

  /** The units of the question and what is unread, each at {@link LEAST}. */
  #smallest(): number {
    const unread = this.#unread()
    const question = this.#question()
    return total(this.#context, (held) =>
      held === question || (this.#context.indexOf(held) >= unread && held.role !== "user")
        ? Math.min(LEAST, held.units)
        : 0,
    )
  }
}

/** The units of a result that a summarizer is told. */
const TOLD_OF_RESULT = 500

/** As a summarizer is told of it: whole, without images. */
function toldOf(held: Held): Held {
  const left = held.role === "toolResult" ? Math.min(1, TOLD_OF_RESULT / held.units) : 1
  return { ...held, left, hasImages: false }
}

/** A summary, or a message that is carried behind it. */
const isLead = ({ role, carried }: Held): boolean => role === "summary" || carried === true

function restore(held: Held): void {
  held.left = 1
  held.hasImages = held.images > 0
}

/** Whether the provider's words have the size of the request. */
function countsTokens({ provider }: World): boolean {
  return String(TOO_LONG[provider]?.(123_457, 9)).includes("123457")
}
