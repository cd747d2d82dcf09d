/** Extracts facts from sessions into memory files, and gives them back as text. Start here. */
import { hasCode, type NewEntry, type Session, type SessionError } from "@sessions/core"
import { isTooLong, type Summarize } from "@sessions/core/compaction"
import { type CallOptions, checkOptions, checkSignal, type OptionNames } from "@sessions/core/storage"
import { askModel } from "./extraction/ask.ts"
import { closedGate, type Progress, PROGRESS_KEY, progressOf, unreadMessages } from "./extraction/conversation.ts"
import {
  conversationBudget,
  EXTRACTION_SYSTEM_PROMPT,
  extractionPrompt,
  halves,
  knownWithin,
  type Part,
  partsOf,
} from "./extraction/prompt.ts"
import { addFacts, clearFacts, deleteFile } from "./facts/add.ts"
import { readFacts } from "./facts/answer.ts"
import { CATEGORIES, type Fact, factKeys } from "./facts/fact.ts"
import { withKnownOutcomes } from "./files/changes.ts"
import { checkMemoryName, checkScope, CONSOLIDATION_FILES, INDEX_FILE, invalidError } from "./files/names.ts"
import type { MemoryFiles } from "./files/types.ts"
import { signalOf } from "./signal.ts"
import { memoryText } from "./text.ts"
import type { ExtractOptions, Extraction, ExtractionStatus, Recall, RecallEvents, RecallOptions } from "./types.ts"

const OPTIONS: OptionNames<RecallOptions> = {
  files: 1,
  scope: 1,
  ask: 1,
  target: 1,
  minConfidence: 1,
  minMessages: 1,
  minToolCalls: 1,
  toolResults: 1,
  window: 1,
  maxTokens: 1,
  timeout: 1,
  now: 1,
}
const EXTRACT_OPTIONS: OptionNames<ExtractOptions> = { signal: 1, force: 1 }
const CLEAR_OPTIONS: OptionNames<CallOptions & { all?: boolean }> = { signal: 1, all: 1 }

const MAX_FAILURES = 3

/** Throws `invalid` for unknown options and wrong values. Nothing is read or written before the first call. */
export function createRecall(options: RecallOptions): Recall {
  checkOptions("createRecall", options, OPTIONS)
  checkScope("createRecall", options.scope)
  if (typeof options.files?.of !== "function") {
    throw invalidError("createRecall needs `files`, such as createDocumentMemory(storage).")
  }
  const { ask, target = () => INDEX_FILE, now = Date.now } = options
  const { minConfidence = 0, minMessages = 20, minToolCalls = 3, toolResults = false } = options
  const { window = 200_000, maxTokens = 4_096, timeout = 300_000 } = options
  if (typeof minConfidence !== "number" || !(minConfidence >= 0 && minConfidence <= 1)) {
    throw invalidError("createRecall: `minConfidence` must be a number from 0 to 1.")
  }
  for (const [name, value] of Object.entries({ minMessages, window, maxTokens, timeout })) checkCount(name, value, 1)
  checkCount("minToolCalls", minToolCalls, 0)
  const targets = new Map(CATEGORIES.map((category) => [category, target(category)]))
  for (const name of targets.values()) checkMemoryName(name)
  return new ScopeRecall(withKnownOutcomes(options.files.of(options.scope)), targets, {
    ask,
    now,
    minConfidence,
    // A page of a path has 1 to 1,000 entries.
    gates: { minMessages: Math.min(minMessages, 1_000), minCalls: minToolCalls },
    toolResults,
    window,
    maxTokens,
    timeout,
  })
}

interface Settings {
  readonly ask: Summarize | undefined
  readonly now: () => number
  readonly minConfidence: number
  readonly gates: { readonly minMessages: number; readonly minCalls: number }
  readonly toolResults: boolean
  readonly window: number
  readonly maxTokens: number
  readonly timeout: number
}

class ScopeRecall implements Recall {
  readonly #files: MemoryFiles
  readonly #targets: ReadonlyMap<Fact["category"], string>
  readonly #settings: Settings
  /** Ids of sessions whose extraction runs. */
  readonly #running = new Set<string>()
  /** Consecutive failures by session; missing after a success. */
  readonly #failures = new Map<string, number>()
  readonly #background = new Set<Promise<unknown>>()
  readonly #listeners = new Map<keyof RecallEvents, Set<(event: never) => void>>()

  constructor(files: MemoryFiles, targets: ReadonlyMap<Fact["category"], string>, settings: Settings) {
    this.#files = files
    this.#targets = targets
    this.#settings = settings
  }

  async shouldExtract(session: Session, o: CallOptions = {}): Promise<boolean> {
    checkSignal(o.signal)
    return this.#blockOf(session.id) === undefined && (await this.#gate(session, o)) === undefined
  }

  async extract(session: Session, o: ExtractOptions = {}): Promise<Extraction> {
    checkOptions("extract", o, EXTRACT_OPTIONS)
    checkSignal(o.signal)
    return this.#extract(session, o, Number.POSITIVE_INFINITY)
  }

  afterTurn(session: Session): void {
    this.#checkAsk()
    const work = this.#extract(session, {}, 1)
      .catch(() => undefined)
      .finally(() => this.#background.delete(work))
    this.#background.add(work)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#background)
  }

  async text(o: CallOptions = {}): Promise<string> {
    checkSignal(o.signal)
    return memoryText(this.#files, this.#names(), signalOf(o))
  }

  async clear(o: CallOptions & { readonly all?: boolean } = {}): Promise<{ facts: number; files: readonly string[] }> {
    checkOptions("clear", o, CLEAR_OPTIONS)
    checkSignal(o.signal)
    const { all = false } = o
    const call = signalOf(o)
    const deleted: string[] = []
    let facts = 0
    // All files: another program, or an earlier one, may have written to other targets.
    for (const name of await this.#files.list(call)) {
      if (!all) facts += await clearFacts(this.#files, name, call)
      else if ((await deleteFile(this.#files, name, call)) > 0) deleted.push(name)
    }
    if (all) await deleteFile(this.#files, CONSOLIDATION_FILES.state, call)
    return { facts, files: deleted }
  }

  status(sessionId: string): ExtractionStatus {
    const failures = this.#failures.get(sessionId) ?? 0
    return { running: this.#running.has(sessionId), failures, stopped: failures >= MAX_FAILURES }
  }

  reset(sessionId: string): void {
    this.#failures.delete(sessionId)
  }

  on<K extends keyof RecallEvents>(event: K, listener: (event: RecallEvents[K]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners)
    // A function of its own: the same one may listen twice.
    const own = (given: RecallEvents[K]): void => listener(given)
    listeners.add(own)
    return () => void listeners.delete(own)
  }

  /** `MEMORY.md` first. */
  #names(): readonly string[] {
    return [...new Set([INDEX_FILE, ...this.#targets.values()])]
  }

  #blockOf(id: string): "running" | "stopped" | undefined {
    const { running, stopped } = this.status(id)
    return running ? "running" : stopped ? "stopped" : undefined
  }

  #checkAsk(): Summarize {
    const { ask } = this.#settings
    if (ask === undefined) throw invalidError("createRecall was given no `ask`, the function that calls the model.")
    return ask
  }

  #gate(session: Session, o: CallOptions): ReturnType<typeof closedGate> {
    return closedGate(session, { ...signalOf(o), ...this.#settings.gates })
  }

  async #extract(session: Session, { force = false, ...o }: ExtractOptions, most: number): Promise<Extraction> {
    const ask = this.#checkAsk()
    const { id } = session
    const block = this.#blockOf(id)
    if (block === "running" || (block === "stopped" && !force)) return nothing(block)
    this.#running.add(id)
    try {
      const gate = force ? undefined : await this.#gate(session, o)
      const done = gate === undefined ? await this.#read(session, ask, o, most) : nothing(gate)
      if (done.skipped !== undefined) return done
      this.#failures.delete(id)
      this.#emit("extracted", { session: id, ...done })
      return done
    } catch (error) {
      // The caller stopped it, which says nothing about the model.
      const isStopped = hasCode(error, "aborted") || hasCode(error, "closed")
      const failures = (this.#failures.get(id) ?? 0) + (isStopped ? 0 : 1)
      if (!isStopped) this.#failures.set(id, failures)
      this.#emit("failed", { session: id, error, failures, stopped: failures >= MAX_FAILURES })
      throw error
    } finally {
      this.#running.delete(id)
    }
  }

  /** Asks for one part of the conversation after the other. Each is a step of its own: its facts, then its progress. */
  async #read(session: Session, ask: Summarize, o: CallOptions, most: number): Promise<Extraction> {
    const { window, maxTokens, toolResults } = this.#settings
    const progress = await progressOf(session, o)
    const messages = await unreadMessages(session, progress?.entry, { ...o, toolResults })
    const known = await this.#knownFacts(o)
    const shown = knownWithin(known, window)
    const parts = partsOf(messages, conversationBudget(window, maxTokens, shown))
    // A message may have nothing but an image.
    const waiting = parts.filter(({ conversation }) => conversation !== "")
    if (waiting.length === 0) return nothing("nothing_new")
    const total = { facts: [] as Fact[], known: 0, dropped: [] as Extraction["dropped"] }
    let requests = 0
    for (let part = waiting.shift(); part !== undefined && requests++ < most; part = waiting.shift()) {
      try {
        const found = await this.#step(session, ask, part, { known, shown }, o)
        total.facts.push(...found.facts)
        total.known += found.known
        total.dropped = [...total.dropped, ...found.dropped]
      } catch (error) {
        const pair = isTooLong((error as Error).cause) ? halves(part) : undefined
        if (pair === undefined) throw error
        waiting.unshift(...pair)
        requests--
      }
    }
    return total
  }

  async #step(
    session: Session,
    ask: Summarize,
    { messages, conversation }: Part,
    { known, shown }: { readonly known: readonly string[]; readonly shown: readonly string[] },
    o: CallOptions,
  ): Promise<Extraction> {
    const { maxTokens, timeout, minConfidence, now } = this.#settings
    const request = { system: EXTRACTION_SYSTEM_PROMPT, prompt: extractionPrompt(conversation, shown), maxTokens }
    const answer = await askModel(ask, request, { ...o, timeout })
    const usage: readonly NewEntry[] =
      answer.usage === undefined ? [] : [{ type: "usage", kind: PROGRESS_KEY, ...answer.model, usage: answer.usage }]
    let found: ReturnType<typeof readFacts>
    try {
      found = readFacts(answer.text, minConfidence)
    } catch (error) {
      // The call was paid for. The reason that it failed matters more than a failure to note that, except for a loss, which is told once.
      const noted = usage.length === 0 ? undefined : session.append(usage, signalOf(o))
      await noted?.catch((failure: SessionError) => {
        if (failure.lost !== undefined) throw failure
      })
      throw error
    }
    const at = new Date(now()).toISOString()
    const facts = await this.#write(found.facts, known, at.slice(0, "2026-11-22".length), o)
    const last = messages.at(-1)?.entryId as string
    const progress: Progress = { entry: last, at, facts: facts.length }
    await session.append([...usage, { type: "metadata", key: PROGRESS_KEY, value: progress }], signalOf(o))
    return { facts, known: found.facts.length - facts.length, dropped: found.dropped }
  }

  async #write(
    facts: readonly Fact[],
    known: readonly string[],
    date: string,
    o: CallOptions,
  ): Promise<readonly Fact[]> {
    const written: Fact[] = []
    for (const name of new Set(this.#targets.values())) {
      const own = facts.filter(({ category }) => this.#targets.get(category) === name)
      if (own.length === 0) continue
      const keys = new Set(known.flatMap(factKeys))
      written.push(...(await addFacts(this.#files, name, own, { ...signalOf(o), known: keys, date })))
    }
    return written
  }

  /** The lines of facts in all files of the scope: consolidation may have moved one. */
  async #knownFacts(o: CallOptions): Promise<readonly string[]> {
    const lines: string[] = []
    for (const name of await this.#files.list(o)) {
      const file = await this.#files.read(name, o)
      lines.push(...(file?.text ?? "").split("\n").filter((line) => factKeys(line).length > 0))
    }
    return lines
  }

  #emit<K extends keyof RecallEvents>(name: K, event: RecallEvents[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as (event: RecallEvents[K]) => void)(event)
      } catch {
        // A listener must not fail the extraction.
      }
    }
  }
}

function nothing(skipped: NonNullable<Extraction["skipped"]>): Extraction {
  return { skipped, facts: [], known: 0, dropped: [] }
}

function checkCount(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= least) return
  throw invalidError(`createRecall: \`${name}\` must be a whole number from ${least}.`)
}
