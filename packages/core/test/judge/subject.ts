/** The library as a player: its loop between a history and the simulated provider, with the laws of each request. */
import {
  type AssistantMessage,
  createSessions,
  type ModelMessage,
  type Session,
  type ToolResultMessage,
  type UserMessage,
} from "@sessions/core"
import { compactionStatus, type Summarize } from "@sessions/core/compaction"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createDice, type Dice } from "../dice.ts"
import { marksIn, remark } from "./author.ts"
import { type Loop, openLoop, REBASE, type Request, SESSION } from "./loop.ts"
import type { Law } from "./laws.ts"
import type { Player } from "./play.ts"
import { refusalOf, requestSize, type Size, sizeOf, usageOf, weigh } from "./provider.ts"
import { hash, summaryText, summaryTokens } from "./summarizer.ts"
import { createTally, type Prediction } from "./tally.ts"
import { textOf } from "./texts.ts"
import { CLEARLY, isPossible, type Said, smallestUnits, unitsByEstimate, unreadOf } from "./unread.ts"
import type { Model, World } from "./world.ts"

interface SummarizerState {
  asked: number
  /** The messages that are typed while a copy summarizes: it counts them itself. */
  others: number
  /** Compactions that asked. */
  runs: number
  isRunning: boolean
  session?: Session
}

/** A request that was refused more often than this is given up by the judge. */
const MOST_REFUSALS = 60
const PROMISED_REFUSALS = 14
/** Compactions that an impossible request may cost. */
const MOST_RUNS = 3

export class Subject implements Player {
  readonly tally = createTally()
  readonly predictions: Prediction[] = []
  /** Broken laws, each once with its first case. */
  readonly broken = new Map<Law, string>()
  /** A possible request was given up, and none was accepted since. */
  endedForGood = false
  readonly #world: World
  readonly #location: MemoryLocation
  #loop: Loop
  #dice: Dice
  #model: Model
  #overhead = 1
  #numbers = 0
  #said: Said[] = []
  #ids = new Map<number, string>()
  /** Messages of another writer that the session has not read. */
  #unseen = new Map<string, () => void>()
  #summarizer: SummarizerState = { asked: 0, others: 0, runs: 0, isRunning: false }
  /** The marks that prompts of the running compaction had. */
  #reading = new Set<number>()
  #summarized = new Set<number>()
  #last: { readonly tokens: number; readonly overhead: number; readonly model: Model } | undefined
  #reports = new Map<Model, number>()
  #compacted = false
  /** Of the last accepted request. */
  #shapes: readonly string[] = []
  /** The smallest form of the request that is asked, which new messages change. */
  #smallestAsked = Number.POSITIVE_INFINITY
  /** The last impossible request that was given up since an answer: its smallest form. */
  #ended: { readonly model: Model; readonly smallest: number } | undefined

  private constructor(world: World, location: MemoryLocation) {
    this.#world = world
    this.#location = location
    this.#dice = createDice(world.seed ^ 0x7e57)
    this.#model = world.models[0] as Model
    this.#loop = undefined as never
  }

  static async open(world: World): Promise<Subject> {
    const subject = new Subject(world, createMemoryLocation())
    subject.#loop = await subject.#openOn(subject.#location, subject.#summarizer)
    await subject.switchTo(0)
    return subject
  }

  async #openOn(location: MemoryLocation, state: SummarizerState): Promise<Loop> {
    const { settings, says, models } = this.#world
    const loop = await openLoop({
      location,
      settings,
      summarize: this.#summarize(location, state),
      ...(says && { overhead: Math.ceil((models[0] as Model).overhead) }),
    })
    state.session = loop.session
    loop.session.on("compact_start", () => (state.isRunning = false))
    if (state === this.#summarizer)
      loop.session.on("compact_complete", () => {
        this.#compacted = true
        this.tally.compactions++
        for (const n of this.#reading) {
          if (this.#summarized.has(n)) this.#break("once", `message ${n} is summarized twice`)
          this.#summarized.add(n)
        }
        this.#reading.clear()
      })
    loop.session.on("compact_failed", () => this.#reading.clear())
    if (state === this.#summarizer)
      loop.session.on("foreign", ({ entries }) => {
        for (const { id } of entries) {
          this.#unseen.get(id)?.()
          this.#unseen.delete(id)
        }
      })
    return loop
  }

  next(): number {
    return this.#numbers++
  }

  async say(message: UserMessage | ToolResultMessage, n: number): Promise<void> {
    const { ids } = await this.#loop.session.append({ type: "message", message }, REBASE)
    this.#note(message, n, ids[0] as string)
  }

  #note(message: ModelMessage, n: number, id: string): void {
    this.tally.messages++
    this.#said.push({ n, message })
    this.#smallestAsked = Math.min(this.#smallestAsked, smallestUnits(this.#said, unitsByEstimate))
    this.#ids.set(n, id)
  }

  async switchTo(model: number): Promise<void> {
    const to = this.#world.models[model] as Model
    if (to === this.#model && this.#numbers > 0) return
    this.#model = to
    await this.#loop.session.append({ type: "model_change", provider: "judge", model: to.name }, REBASE)
  }

  scaleOverhead(by: number): void {
    const { overhead, window } = this.#world.models[0] as Model
    // At most what the law calls possible.
    this.#overhead = overhead === 0 ? 1 : Math.min(this.#overhead * by, (0.95 * window) / overhead)
  }

  deletable(): readonly { readonly n: number; readonly size: number }[] {
    return this.#said.flatMap(({ n, message }) =>
      message.role !== "user" || this.#summarized.has(n)
        ? []
        : [{ n, size: sizeOf(message, this.#model, this.#world).tokens }],
    )
  }

  async remove(n: number): Promise<void> {
    this.#said = this.#said.filter((said) => said.n !== n)
    // It may be of another writer.
    await this.#loop.session.refresh()
    await this.#loop.session.tombstone(this.#ids.get(n) as string, REBASE)
  }

  async rest(): Promise<void> {}

  #possible(): boolean {
    return isPossible(this.#said, this.#model, this.#overhead, this.#world)
  }

  async ask(make: (n: number) => AssistantMessage): Promise<AssistantMessage | false> {
    // The failures of automatic compaction, which open its breaker, are not in the log.
    const { failures } = compactionStatus(this.#loop.session)
    const copy = this.#dice.chance(COPIES) && failures === 0 ? await this.#firstOfCopy() : undefined
    const { paid } = this.tally
    const { runs } = this.#summarizer
    const numbers = this.#numbers
    this.#smallestAsked = smallestUnits(this.#said, unitsByEstimate)
    let refusals = 0
    let isFirst = true
    let made: AssistantMessage | undefined
    try {
      await this.#loop.ask(async (request) => {
        if (isFirst && copy !== undefined) this.#compare(request, copy)
        isFirst = false
        const size = this.#measure(request)
        const refusal = refusalOf(this.#dice, size, this.#model, this.#world)
        if (refusal === undefined) {
          made = this.#accept(request, size.tokens, make)
          return made
        }
        if (refusal.kind === "busy") throw refusal.error
        const possible = this.#possible()
        this.tally[possible ? "refusedPossible" : "refusedImpossible"]++
        if (possible && this.#last !== undefined && !this.#reports.has(this.#model)) this.tally.refusedNew++
        if (possible) this.tally.mostRefusals = Math.max(this.tally.mostRefusals, ++refusals)
        if (refusals > MOST_REFUSALS) throw new Error("The judge gives up.")
        if (this.#dice.chance(this.#world.types)) {
          const n = this.next()
          await this.say(remark("And please be quick.", n), n)
        }
        throw refusal.error
      })
    } catch (error) {
      this.tally.paidImpossible += this.#possible() ? 0 : this.tally.paid - paid
      this.#end(error, this.#summarizer.runs - runs, this.#numbers - numbers)
      return false
    }
    if (refusals > PROMISED_REFUSALS) this.#break("accepted", `a possible request was refused ${refusals} times`)
    if (made === undefined) throw new Error("The loop did not ask.")
    return made
  }

  /** The loop has given up, after so many compactions that were paid, and so many new messages. */
  #end(error: unknown, runs: number, added: number): void {
    if (this.#possible()) {
      this.tally.stuck++
      this.endedForGood = true
      this.#break("accepted", `a possible request was given up: ${String(error)}`)
      return
    }
    this.tally.ended++
    if ((String(error).match(/\d+/g) ?? []).length < 2)
      this.#break("named", `an error without figures: ${String(error)}`)
    const smallest = this.#smallestAsked
    const before = this.#ended
    const again = before?.model === this.#model && smallest >= CLEARLY * before.smallest
    if (runs > (again ? 0 : MOST_RUNS + added))
      this.#break("unpaid", `${runs} compactions of a request that cannot be sent`)
    const given = before?.model === this.#model ? before.smallest : Number.POSITIVE_INFINITY
    this.#ended = { model: this.#model, smallest: Math.min(given, smallestUnits(this.#said, unitsByEstimate)) }
  }

  /** What a request really has, and what it lacks. */
  #measure({ messages, predicted }: Request): Size {
    this.tally.sends++
    const size = requestSize(messages, this.#model, this.#overhead, this.#world)
    const marks = messages.flatMap((message) => weigh(message, this.#world).marks)
    const sent = new Set(marks)
    if (sent.size < marks.length) this.#break("once", "a request has a message twice")
    for (const { n, message } of unreadOf(this.#said))
      if (!sent.has(n)) this.#break(message.role === "user" ? "question" : "unread", `a request lacks message ${n}`)
    for (const n of sent) if (this.#summarized.has(n)) this.#break("once", `message ${n} is summarized and sent`)
    const shapes = this.#shapesOf(messages)
    const isSame = this.#shapes.every((shape, i) => shape === shapes[i])
    this.#predict(size.tokens, predicted, isSame)
    return size
  }

  #predict(tokens: number, predicted: number, isSame: boolean): void {
    const last = this.#last
    if (this.#world.report !== "always" || (this.#reports.get(this.#model) ?? 0) < 2) return
    if (last === undefined || last.model !== this.#model || last.overhead !== this.#overhead) return
    const since = !isSame ? "changed" : tokens <= last.tokens * 1.2 ? "same" : "new"
    this.predictions.push({ error: Math.abs(predicted - tokens) / tokens, since })
  }

  /** What tells whether a message is the same in two requests. */
  #shapesOf(messages: readonly ModelMessage[]): readonly string[] {
    return messages.map((message) => {
      const { marks, length } = weigh(message, this.#world)
      return `${message.role} ${marks.join()} ${length}`
    })
  }

  #accept({ messages }: Request, tokens: number, make: (n: number) => AssistantMessage): AssistantMessage {
    this.endedForGood = false
    this.#ended = undefined
    this.#shapes = this.#shapesOf(messages)
    this.#countCuts(messages)
    const n = this.next()
    const plain = make(n)
    const output = sizeOf(plain, this.#model, this.#world).tokens
    const isFirst = this.#compacted || this.#last === undefined
    const usage = usageOf(this.#dice, tokens, output, isFirst, this.#world)
    const message: AssistantMessage = {
      ...plain,
      provider: "judge",
      model: this.#model.name,
      ...(usage !== undefined && { usage }),
    }
    this.#last = { tokens, overhead: this.#overhead, model: this.#model }
    this.#reports.set(this.#model, (this.#reports.get(this.#model) ?? 0) + 1)
    this.#compacted = false
    this.tally.messages++
    this.#said.push({ n, message })
    return message
  }

  #countCuts(messages: readonly ModelMessage[]): void {
    const sent = new Map<number, number>()
    for (const message of messages) {
      const { marks, length } = weigh(message, this.#world)
      for (const n of marks) sent.set(n, length)
    }
    for (const { n, message } of unreadOf(this.#said)) {
      const length = sent.get(n)
      if (length === undefined || length >= weigh(message, this.#world).length) continue
      this.tally[message.role === "user" ? "cutQuestions" : "cutResults"]++
    }
  }

  /** The first request that the same log gives in another process. */
  async #firstOfCopy(): Promise<Request | undefined> {
    await this.#loop.session.flush()
    const location = copyOf(this.#location)
    const loop = await this.#openOn(location, { ...this.#summarizer, others: 0 })
    let first: Request | undefined
    await loop
      .ask((request) => {
        first ??= request
        return Promise.reject(new Error("The copy ends."))
      })
      .catch(() => {})
    await loop.session.close()
    return first
  }

  #compare(request: Request, copy: Request): void {
    if (JSON.stringify(request.messages) !== JSON.stringify(copy.messages))
      this.#break("fold", "another process gives another request")
    else if (Math.abs(request.predicted - copy.predicted) > 1)
      this.#break("fold", `another process predicts ${copy.predicted}, not ${request.predicted}`)
  }

  #summarize(location: MemoryLocation, state: SummarizerState): Summarize {
    const isLive = location === this.#location
    return async ({ prompt, maxTokens }) => {
      const asked = state.asked++
      const { models, count, fails, moved } = this.#world
      const model = this.#model
      const seed = hash(prompt) ^ asked
      const dice = createDice(seed)
      // The instructions behind the messages are the same for all: a small window would have no place for them.
      const history = count(prompt.slice(0, prompt.lastIndexOf("</conversation>"))) * model.factor
      if (history > model.window) throw new Error("prompt is too long")
      if (!state.isRunning) state.runs++
      state.isRunning = true
      if (isLive) {
        this.tally.paid++
        for (const n of marksIn(prompt)) this.#reading.add(n)
      }
      if (dice.chance(fails)) throw new Error("The model is overloaded.")
      if (dice.chance(moved))
        await this.#interfere(state, location, dice, isLive ? this.next() : this.#numbers + state.others++)
      const tokens = summaryTokens(seed, history, maxTokens, models[0] as Model)
      return { content: summaryText(tokens, model, this.#world), stopReason: "stop" }
    }
  }

  /** The user types a message: in this process, or in another. */
  async #interfere(state: SummarizerState, location: MemoryLocation, dice: Dice, n: number): Promise<void> {
    const message = remark(textOf(dice, "english", 5 + dice.below(200)), n)
    const isOther = dice.chance(0.5)
    const session = isOther
      ? await createSessions({ storage: createMemoryStorage({ location }) }).open(SESSION)
      : (state.session as Session)
    const { ids } = await session.append({ type: "message", message }, REBASE)
    const [id] = ids as [string]
    if (isOther) {
      if (location === this.#location) this.#unseen.set(id, () => this.#note(message, n, id))
      await session.close()
    } else if (location === this.#location) this.#note(message, n, id)
  }

  /** Every message is in the whole context, or was summarized. */
  async end(): Promise<void> {
    await this.#loop.session.refresh()
    const whole = await this.#loop.whole()
    const kept = new Set(whole.flatMap((message) => weigh(message, this.#world).marks))
    for (const { n } of this.#said)
      if (!kept.has(n) && !this.#summarized.has(n)) this.#break("kept", `message ${n} is neither kept nor summarized`)
    await this.#loop.session.close()
  }

  #break(law: Law, what: string): void {
    if (!this.broken.has(law)) this.broken.set(law, `message ${this.#numbers}: ${what}`)
  }
}

/** How often a copy of the session is asked as well. */
const COPIES = 0.1

function copyOf(location: MemoryLocation): MemoryLocation {
  const logs = new Map(Array.from(location.logs, ([id, log]) => [id, { ...log, lines: [...log.lines] }]))
  return { ...location, logs, docs: new Map(location.docs), blobs: new Map(location.blobs), watchers: new Map() }
}
