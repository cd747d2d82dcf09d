/**
 * One open session, shared by all handles that a repository has on it: its state, its append queue, its turn lock, its events. Appends
 * enter here: checked, encoded, put at the end of the log in memory, queued.
 */
import type { BlobLimits } from "../format/blobs.ts"
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { hasCode, type SessionError } from "../format/errors.ts"
import type { Extensions } from "../format/names.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/entry.ts"
import { ENTRY_TYPES } from "../format/entry-types.ts"
import type { Head, Seq, SessionStorage } from "../storage/contract.ts"
import { onAbort, rejectOnAbort } from "../storage/signals.ts"
import { Emitter } from "./events.ts"
import { seldomFeature } from "./features/load.ts"
import type { Following } from "./follow.ts"
import { copyEntries, type Hooks, runAppendHooks, runHook } from "./hooks.ts"
import { infoText } from "../info/store.ts"
import { divergenceAt, type Divergence, toDiagnostic } from "../log/diverged.ts"
import type { LogStore } from "../log/load.ts"
import type { LogReader } from "../log/log-reader.ts"
import { isOlder } from "../log/path.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { OpenTips } from "../log/projected-tips.ts"
import { isLeaving } from "../log/tips.ts"
import { isConversation, type PendingAppend, type PendingEntry } from "../write/pending.ts"
import { assign, type BranchTarget, pathForState, type Placed } from "../write/assign.ts"
import { type EncodedAppendEntry, putPlanned } from "../write/encode.ts"
import { abortedError, notMovableError, otherWriterError } from "../write/errors.ts"
import { type KnownLosses, Losses } from "../write/losses.ts"
import { followEnd } from "../write/reconcile.ts"
import { checkMetadata, checkSizes } from "../write/limits.ts"
import type {
  CompactableSession,
  CompactionProgress,
  LogReading,
  OtherVersion,
  ReloadableSession,
} from "./live-types.ts"
import { NONE_KNOWN, Repeats } from "../write/repeats.ts"
import type { Resolved } from "../write/resolve-outcome.ts"
import type { SessionState } from "../write/session-state.ts"
import { TurnLock } from "./turn.ts"
import type { AppendOptions, AppendResult, ConflictPolicy, RunningTurn, TurnLease } from "../write/types.ts"
import { type QueueContext, WriteQueue } from "../write/write-queue.ts"
import type { LogEnd } from "../write/writer.ts"

export interface LiveSessionOptions {
  readonly hooks: readonly Hooks[]
  readonly onHookFailed: (hook: string, error: unknown) => void
  readonly onConflict: ConflictPolicy
  readonly readers: readonly LogReader[]
  readonly migrateOnWrite: boolean
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly oversize: "blobs" | "truncate"
  readonly extensions: Extensions | undefined
  /** How much of a log is read at a time. */
  readonly readWindow: ReadWindow
  readonly newId: () => string
  readonly now: () => number
}

/** The turn in which an append is made, and the lease of the turn of which it is. */
interface Appender {
  readonly turn: RunningTurn | undefined
  readonly lease: TurnLease | null
  /** Of the handle through which it is made; undefined: of none. */
  readonly losses: KnownLosses | undefined
}

/** The options of an append, as the methods of the session pass them. */
interface BranchingOptions extends AppendOptions {
  readonly target?: BranchTarget
}

export class LiveSession implements QueueContext, CompactableSession, ReloadableSession {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  readonly store: LogStore
  readonly options: LiveSessionOptions
  readonly reading: LogReading
  readonly events: Emitter = new Emitter()
  readonly turns: TurnLock
  readonly diagnostics: Diagnostic[]
  otherVersion: OtherVersion | undefined
  /** The tips of the log are not known, and are read in the background. Never rejects. */
  readingTips: Promise<void> | undefined
  readonly compaction: CompactionProgress = { running: false, failures: 0 }
  readonly closeListeners: Set<() => void> = new Set()
  readonly losses: Losses = new Losses()
  /** Made on first use: few sessions are followed. */
  following: Following | undefined
  readonly #queue: WriteQueue
  readonly #repeats: Repeats
  /** Appends that wait for hooks, a migration or an older part of the log are queued one after the other. */
  #hooked: Promise<void> | undefined

  constructor(o: {
    state: SessionState
    store: LogStore
    options: LiveSessionOptions
    reading: LogReading
  }) {
    this.id = o.store.id
    this.storage = o.store.storage
    this.state = o.state
    this.store = o.store
    this.options = o.options
    this.reading = o.reading
    this.diagnostics = o.store.diagnostics
    this.turns = new TurnLock(this.id)
    this.#queue = new WriteQueue(this)
    this.#repeats = new Repeats(this)
  }

  get maxSessionBytes(): number {
    return this.options.maxSessionBytes
  }

  now(): number {
    return this.options.now()
  }

  /** `lease`: that of the turn of which the append is; null: none. `losses`: those that the caller knows. */
  append(
    entries: readonly NewEntry[],
    o: BranchingOptions = {},
    lease: TurnLease | null = this.turns.leaseOf(false),
    losses?: KnownLosses,
  ): Promise<AppendResult> {
    const turn = this.turns.running
    try {
      const direct = this.otherVersion === undefined && !this.options.hooks.some(({ append }) => append !== undefined)
      // An append must not overtake appends that wait for their hooks.
      if (direct && this.#hooked === undefined) {
        const given = { inputs: entries, target: o.target, known: NONE_KNOWN }
        const path = pathForState(this.state, given)
        const isKnown = this.#repeats.missing(entries, o, NONE_KNOWN) === undefined
        if (isKnown && !isOlder(path)) return this.#place({ ...given, path }, o, { turn, lease, losses })
      }
      return this.#placeLater(copyEntries(entries), o, { turn, lease, losses })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async drain(): Promise<void> {
    await this.#hooked
    await this.#queue.flush()
  }

  /** Takes over what other writers appended. `seen`: a head that the storage has reported; nothing is read if the session has it. */
  async refresh(seen?: Head): Promise<Head> {
    // A migration may be under way.
    if (this.otherVersion !== undefined) await this.#hooked
    if (this.otherVersion === undefined) await this.#queue.refresh(seen)
    else await this.otherVersion.checkUnchanged(seen)
    return cloneJson(this.state.head)
  }

  /** After a turn, which does not follow another writer that continues it: now the session does. */
  followEnd(): void {
    if (followEnd(this.state)) this.reportTips()
  }

  get midTurn(): boolean {
    return this.turns.running?.phase === "written"
  }

  /** After a migration, the hooks, and the reading of a path whose state an entry stores. */
  #placeLater(entries: readonly NewEntry[], o: BranchingOptions, by: Appender): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(abortedError(this.id, o.signal as AbortSignal, false))
      const off = o.signal === undefined ? undefined : onAbort(o.signal, abort)
      const place = async (): Promise<void> => {
        if (o.signal?.aborted === true) throw abortedError(this.id, o.signal, false)
        await this.otherVersion?.migrate()
        this.otherVersion = undefined
        // A hook that hangs must not hold back the appends behind an aborted one.
        const changed = await rejectOnAbort(runAppendHooks(this.options.hooks, entries, this.id), o.signal, () =>
          abortedError(this.id, o.signal as AbortSignal, false),
        )
        resolve(this.#place(await this.#readMissing(changed, o), o, by))
      }
      const done = (): void => {
        if (this.#hooked === hooked) this.#hooked = undefined
        off?.()
      }
      const hooked = (this.#hooked ?? Promise.resolve()).then(place).catch(reject).finally(done)
      this.#hooked = hooked
    })
  }

  /**
   * Reads further back for the state of a path and for ids that callers brought. If the log was replaced or deleted, the entries go
   * without, and their write, which conflicts, finds out which of the two it was.
   */
  async #readMissing(inputs: readonly NewEntry[], o: BranchingOptions): Promise<Placed> {
    let known = NONE_KNOWN
    for (;;) {
      const given = { inputs, target: o.target, known }
      const path = pathForState(this.state, given)
      const missing = this.#repeats.missing(inputs, o, known)
      try {
        if (isOlder(path)) await this.store.older(() => this.state.log, path.hint, o)
        else if (missing !== undefined) known = await this.#repeats.read(missing, known, o)
        else return { ...given, path }
      } catch (error) {
        if (hasCode(error, "conflict")) return { ...given, path: undefined }
        throw error
      }
    }
  }

  /** Puts entries at the end of the log in memory, and queues them. If it throws, nothing has changed. */
  #place(placed: Placed, o: AppendOptions, by: Appender): Promise<AppendResult> {
    if (o.signal?.aborted === true) throw abortedError(this.id, o.signal, false)
    // It may have waited, as for a hook, while the loss was met.
    const loss = by.losses?.tell()
    if (loss !== undefined) throw loss
    const { state } = this
    const { ids, fresh } = assign(this.id, state, by.lease?.admit(placed) ?? placed, this.options)
    if (fresh.length === 0) return this.#outcomeOf(ids, o, by)
    const entries = fresh.map(({ pending }) => pending)
    checkSizes(this.id, entries, this.storage.capabilities)
    checkMetadata(this.id, state, fresh)
    const item = this.#toItem(fresh, entries, o, by)
    for (const { pending, entry } of fresh) state.push(pending, entry)
    this.#queue.push(item)
    if (fresh.length < ids.length) return this.#outcomeOf(ids, o, by)
    const settled = this.#queue.waitFor(item, ids, o.signal, by.losses)
    this.#queue.wake()
    return settled
  }

  /**
   * The outcome of a request that repeats entries: complete when every append that holds an entry of it is, with the divergence of the last
   * one.
   */
  async #outcomeOf(ids: readonly string[], o: AppendOptions, { losses }: Appender): Promise<AppendResult> {
    const pending = ids.filter((id) => (this.state.log.find(id) as Seq) >= this.state.acknowledged)
    const items = pending.length === 0 ? [] : this.#queue.holding(pending)
    // The newest first: an abort withdraws it, if it is this request's own, and its error must say so.
    const results = items.toReversed().map((item) => this.#queue.waitFor(item, ids, o.signal, losses))
    // After the callers are known: the queue may refuse an append at once.
    if (items.length > 0) this.#queue.wake()
    const [last] = await Promise.all(results)
    return { ...last, ids, head: cloneJson(this.state.head) }
  }

  #toItem(
    fresh: readonly EncodedAppendEntry[],
    entries: readonly PendingEntry[],
    { onConflict }: AppendOptions,
    { turn, lease }: Appender,
  ): PendingAppend {
    const placed = onConflict === "rebase" ? entries.find(({ type }) => ENTRY_TYPES.get(type)?.placed) : undefined
    if (placed !== undefined) throw notMovableError(this.id, placed.type)
    // A compaction does not count as the turn's first message, which may still start the turn over.
    const begins = entries.some((entry) => isConversation(entry) && entry.type !== "compaction")
    const opens = turn?.phase === "unopened" && begins ? turn : undefined
    const policy = onConflict ?? (opens === undefined ? this.options.onConflict : "retry-turn")
    if (
      turn !== undefined &&
      onConflict === undefined &&
      (turn.conflicted || opens?.stale === true) &&
      entries.some(isConversation)
    ) {
      turn.conflicted = true
      throw otherWriterError(this)
    }
    if (opens !== undefined) opens.phase = "opening"
    const item: PendingAppend = {
      entries,
      callers: [],
      policy,
      outcome: "queued",
      lines: undefined,
      committed: false,
      putBlobs: undefined,
      ready: undefined,
      putAt: undefined,
      opens,
      lease,
      diverged: undefined,
    }
    const withBlobs = fresh.filter(({ blobs }) => blobs.length > 0)
    if (withBlobs.length > 0) {
      // Kept until the append is acknowledged, so without the caller's objects.
      const planned = withBlobs.map(({ pending, blobs }) => ({ pending, blobs }))
      item.putBlobs = () => putPlanned(this.storage, item, planned, this.options.now)
    }
    return item
  }

  // ---- QueueContext --------------------------------------------------------------------------------------------------------------

  async resolveOther(end: LogEnd): Promise<Resolved> {
    const { resolveOther } = await seldomFeature()
    return resolveOther(this, end)
  }

  infoText(pendingEntries: number): (() => string | undefined) | undefined {
    const projection = this.state.infoAt(pendingEntries)
    return projection && (() => infoText(projection))
  }

  acknowledged(seqs: readonly Seq[], head: Head): void {
    const entryAt = (seq: Seq): Entry => this.state.log.at(seq) as Entry
    if (this.#indexOf("diverged") >= 0 && seqs.some((seq) => isLeaving(entryAt(seq)))) this.#updateDiverged()
    const savers = this.options.hooks.filter(({ save }) => save !== undefined)
    if (savers.length === 0 && !this.events.has("appended")) return
    const entries = seqs.map(entryAt)
    for (const hook of savers) {
      const saved = { session: this.id, ids: entries.map(({ id }) => id), head: cloneJson(head) }
      runHook("save", () => hook.save?.(saved), this.reportHookFailure)
    }
    if (this.events.has("appended"))
      this.events.emit("appended", { entries: cloneJson(entries), head: cloneJson(head) })
  }

  readonly reportHookFailure = (hook: string, error: unknown): void => {
    this.options.onHookFailed(hook, error)
    this.events.emit("hook_failed", { hook, error })
  }

  rolledBack(ids: readonly string[], error: unknown): void {
    // The entries may have settled branches.
    this.#updateDiverged()
    this.events.emit("rolled_back", { ids, error })
  }

  lost(loss: SessionError): void {
    this.losses.add(loss)
    this.following?.end(loss)
  }

  foreign(entries: readonly Entry[]): void {
    const { running, lease } = this.turns
    lease?.isEndedBy(entries)
    this.#updateDiverged()
    if (running?.phase === "unopened" && entries.some(isConversation)) running.stale = true
    if (this.events.has("foreign")) this.events.emit("foreign", { entries: cloneJson(entries) })
  }

  diverged(divergence: Divergence): void {
    this.events.emit("diverged", cloneJson(divergence))
    // Two writers that both go on diverge with each append.
    this.report(toDiagnostic(divergence))
  }

  /** Reports open tips if one of them was not reported yet. A report that no longer holds is dropped. */
  reportTips(open?: OpenTips): void {
    const divergence = this.state.reportTips(open)
    if (divergence === undefined) this.#updateDiverged()
    else this.report(toDiagnostic(divergence))
  }

  /** The reported branches that are open now, beside that of the present leaf. */
  openBranches(): Diagnostic | undefined {
    this.#updateDiverged()
    return this.diagnostics[this.#indexOf("diverged")]
  }

  /** The reported tips may be settled or continued now. */
  #updateDiverged(): void {
    const { state } = this
    const at = this.#indexOf("diverged")
    // A report is not dropped because the lines that show it are not loaded.
    if ((at < 0 && state.reported.size === 0) || !state.knowsTips) return
    const left = divergenceAt(state.leafId, state.openTips())
    if (left === undefined) this.clear("diverged")
    else this.diagnostics[at < 0 ? this.diagnostics.length : at] = toDiagnostic(left)
  }

  /** The newest of a diagnostic that occurs repeatedly is kept. */
  report(diagnostic: Diagnostic): void {
    const at = this.#indexOf(diagnostic.code)
    this.diagnostics[at < 0 ? this.diagnostics.length : at] = diagnostic
    this.events.emit("diagnostic", cloneJson(diagnostic))
  }

  /** Removes the diagnostic of this code, which no longer holds. */
  clear(code: Diagnostic["code"]): void {
    const at = this.#indexOf(code)
    if (at >= 0) this.diagnostics.splice(at, 1)
  }

  #indexOf(code: Diagnostic["code"]): number {
    return this.diagnostics.findIndex((diagnostic) => diagnostic.code === code)
  }
}
