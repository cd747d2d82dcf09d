/** Lets the caller's agent review the sessions since last time and tidy the memory files. Start here. */
import { hasCode } from "@sessions/core"
import { type CallOptions, checkOptions, checkSignal, onAbort, type OptionNames } from "@sessions/core/storage"
import { RecallError } from "../error.ts"
import { checkScope, invalidError } from "../files/names.ts"
import { withKnownOutcomes } from "../files/changes.ts"
import type { MemoryFiles } from "../files/types.ts"
import { signalOf } from "../signal.ts"
import { hasMemory, problemsOf } from "./check.ts"
import { HeldLock, isLockFree, takeLock } from "./lock.ts"
import { PHASE_PROMPTS, type PhaseFacts, phasePrompt } from "./prompts.ts"
import { newSessions, sessionsOf } from "./reviewed.ts"
import { lastConsolidation, leftOutSessions, writeState } from "./state.ts"
import { createTools, MemoryEdits, restoreFiles, type ToolDeps } from "./tools.ts"
import type {
  ConsolidateGateOptions,
  ConsolidateOptions,
  Consolidated,
  Consolidation,
  ConsolidationLock,
  ConsolidationOptions,
  RunPhase,
} from "./types.ts"

const OPTIONS: OptionNames<ConsolidationOptions> = {
  sessions: 1,
  files: 1,
  scope: 1,
  run: 1,
  hours: 1,
  minSessions: 1,
  lockStale: 1,
  filter: 1,
  search: 1,
  toolResults: 1,
  now: 1,
}
const GATE_OPTIONS: OptionNames<ConsolidateGateOptions> = { signal: 1, current: 1 }
const CALL_OPTIONS: OptionNames<ConsolidateOptions> = { signal: 1, current: 1, force: 1 }

/** Sessions that an agent is shown. */
const MAX_SESSIONS = 100
const HOUR_MS = 3_600_000

/** Throws `invalid` for unknown options and wrong values. Nothing is read or written before the first call. */
export function createConsolidation(options: ConsolidationOptions): Consolidation {
  checkOptions("createConsolidation", options, OPTIONS)
  const { sessions, files, scope, hours = 24, minSessions = 5, lockStale = HOUR_MS } = options
  checkScope("createConsolidation", scope)
  if (typeof sessions?.list !== "function")
    throw invalidError("createConsolidation needs `sessions`, of createSessions.")
  if (typeof files?.of !== "function") {
    throw invalidError("createConsolidation needs `files`, such as createDocumentMemory(storage).")
  }
  if (!(hours >= 0)) throw invalidError("createConsolidation: `hours` must be a number from 0.")
  for (const [name, value] of Object.entries({ minSessions, lockStale })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw invalidError(`createConsolidation: \`${name}\` must be a whole number from 1.`)
    }
  }
  return new ScopeConsolidation({ ...options, hours, minSessions, lockStale })
}

type Settings = ConsolidationOptions & Required<Pick<ConsolidationOptions, "hours" | "minSessions" | "lockStale">>

class ScopeConsolidation implements Consolidation {
  readonly #options: Settings
  readonly #files: MemoryFiles
  readonly #now: () => number
  readonly #review: ToolDeps["review"]

  constructor(options: Settings) {
    const { files, scope, filter = { cwd: scope }, toolResults = false, now = Date.now } = options
    this.#options = options
    this.#files = withKnownOutcomes(files.of(scope))
    this.#now = now
    this.#review = { filter, now, toolResults }
  }

  async shouldConsolidate(o: ConsolidateGateOptions = {}): Promise<boolean> {
    checkOptions("shouldConsolidate", o, GATE_OPTIONS)
    checkSignal(o.signal)
    if ((await this.#closedGate(o)) !== undefined) return false
    return isLockFree(this.#files, { ...signalOf(o), ...this.#lockOptions() })
  }

  async acquireLock(o: CallOptions = {}): Promise<HeldLock | undefined> {
    checkSignal(o.signal)
    return takeLock(this.#files, { ...signalOf(o), ...this.#lockOptions() })
  }

  async updateState(lock: ConsolidationLock, o: CallOptions & { readonly at?: number } = {}): Promise<void> {
    checkSignal(o.signal)
    await this.#done(lock, o.at ?? this.#now(), undefined, o)
  }

  async #done(
    lock: ConsolidationLock,
    at: number,
    leftOut: readonly string[] | undefined,
    o: CallOptions,
  ): Promise<void> {
    await lock.check()
    checkSignal(o.signal)
    await writeState(this.#files, at, leftOut)
  }

  async releaseLock(lock: ConsolidationLock): Promise<void> {
    if (!(lock instanceof HeldLock)) throw invalidError("releaseLock needs the lock of acquireLock.")
    await lock.release()
  }

  async consolidate(o: ConsolidateOptions = {}): Promise<Consolidated> {
    checkOptions("consolidate", o, CALL_OPTIONS)
    checkSignal(o.signal)
    const { run } = this.#options
    if (run === undefined)
      throw invalidError("createConsolidation was given no `run`, the function that runs the agent.")
    const { force = false } = o
    const closed = force ? undefined : await this.#closedGate(o)
    if (closed !== undefined) return nothing(closed)
    const lock = await this.acquireLock(signalOf(o))
    if (lock === undefined) return nothing("locked")
    try {
      // Another process may have finished between the gates and the lock.
      const now = force ? undefined : await this.#closedGate(o)
      return now === undefined ? await this.#run(run, lock, o) : nothing(now)
    } finally {
      // What was done stays done, and an error before says more. A lock that cannot be released becomes stale.
      await lock.release().catch(() => undefined)
    }
  }

  /** The cheapest gate first; stops at the first that is closed. */
  async #closedGate(o: ConsolidateGateOptions): Promise<"too_soon" | "few_sessions" | undefined> {
    const { hours, minSessions, sessions } = this.#options
    const last = await this.#last(o)
    if (last !== undefined && this.#now() - last < hours * HOUR_MS) return "too_soon"
    const { rows } = await newSessions(sessions, last, minSessions, { ...o, ...this.#review })
    return rows.length < minSessions ? "few_sessions" : undefined
  }

  #last(o: CallOptions): Promise<number | undefined> {
    // Clocks of two machines may differ a little.
    const latest = this.#now() + this.#options.hours * HOUR_MS
    return lastConsolidation(this.#files, latest, signalOf(o))
  }

  async #run(run: RunPhase, lock: HeldLock, o: ConsolidateGateOptions): Promise<Consolidated> {
    const { sessions, search } = this.#options
    // Messages that arrive during the run belong to the next one.
    const startedAt = this.#now()
    const last = await this.#last(o)
    const review = { ...o, ...this.#review }
    const found = await newSessions(sessions, last, MAX_SESSIONS, review)
    const known = new Set([...found.rows.map(({ id }) => id), ...found.leftOut])
    const earlier = (await leftOutSessions(this.#files, signalOf(o))).filter((id) => !known.has(id))
    const again = await sessionsOf(sessions, earlier, review)
    const rows = [...found.rows, ...again.rows]
    const deps: ToolDeps = { files: this.#files, sessions, lock, rows, review: this.#review, search }
    const edits = new MemoryEdits()
    try {
      await this.#runPhases(run, lock, { rows: rows.length, last, deps, edits }, o)
      await this.#done(lock, startedAt, [...found.leftOut, ...again.leftOut], o)
    } catch (error) {
      const kept = await restoreFiles(this.#files, lock, edits)
      if (kept.length === 0 || !(error instanceof RecallError) || error.code !== "consolidation_failed") throw error
      const message = `${error.message} ${kept.join(", ")} could not be put back, because something else has changed or locked it.`
      throw new RecallError("consolidation_failed", message, error)
    }
    return { sessions: rows.length, written: [...edits.written].sort(), deleted: [...edits.deleted].sort() }
  }

  async #runPhases(
    run: RunPhase,
    lock: HeldLock,
    {
      rows,
      last,
      deps,
      edits,
    }: {
      readonly rows: number
      readonly last: number | undefined
      readonly deps: ToolDeps
      readonly edits: MemoryEdits
    },
    o: ConsolidateGateOptions,
  ): Promise<void> {
    const had = await hasMemory(this.#files, signalOf(o))
    const notes: PhaseFacts["notes"][number][] = []
    for (const [phase, prompt] of PHASE_PROMPTS) {
      await lock.check()
      const problems = phase === "prune" ? await problemsOf(this.#files, had, signalOf(o)) : []
      const facts: PhaseFacts = { now: this.#now(), last, sessions: rows, notes, problems }
      const text = await runPhase(lock.signal, o.signal, async (signal) =>
        run({ phase, prompt: phasePrompt(prompt, facts), tools: createTools(deps, edits, signal), signal }),
      )
      // An agent may not have waited for its last write.
      await edits.settled()
      if (typeof text === "string" && text.trim() !== "") notes.push({ phase, text: text.trim() })
    }
    const problems = await problemsOf(this.#files, had, signalOf(o))
    if (problems.length > 0)
      throw new RecallError("consolidation_failed", `The agent left the memory wrong: ${problems.join(" ")}`)
  }

  #lockOptions(): { readonly lockStale: number; readonly now: () => number } {
    return { lockStale: this.#options.lockStale, now: this.#now }
  }
}

/** Ends when the agent does, the lock is lost or the caller aborts. The signal fires then, so that tools reject from there on. */
async function runPhase<T>(
  lost: AbortSignal,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const stopped = new Promise<never>((_, reject) => {
    onAbort(stop.signal, () => reject(stop.signal.reason as Error))
  })
  const signals = [lost, ...(signal === undefined ? [] : [signal])]
  const off = signals.map((one) => onAbort(one, () => stop.abort(one.reason)))
  try {
    if (signals.some(({ aborted }) => aborted)) stop.abort()
    // An agent may ignore its signal.
    return await Promise.race([work(stop.signal), stopped])
  } catch (cause) {
    if (lost.aborted) throw lost.reason
    checkSignal(signal)
    if (hasCode(cause, "aborted")) throw cause
    const message = `The agent failed: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new RecallError("consolidation_failed", message, cause)
  } finally {
    for (const end of off) end()
    stop.abort()
  }
}

function nothing(skipped: NonNullable<Consolidated["skipped"]>): Consolidated {
  return { skipped, sessions: 0, written: [], deleted: [] }
}
