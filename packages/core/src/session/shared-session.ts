/**
 * One open session, however many handles a repository has on it: its place in memory, its queue, its turn lock. Appends come in
 * here; `reading.ts` has what is read from it.
 */
import type { SessionError } from "../format/errors.ts"
import type { BlobLimits } from "../format/blob-refs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { encodeHeader } from "../format/line.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/records.ts"
import { utf8Length } from "../storage/checks.ts"
import type { Head, Seq, SessionStorage } from "../storage/contract.ts"
import { unlessAborted } from "./aborting.ts"
import { waitFor } from "../write/callers.ts"
import { Emitter } from "./events.ts"
import { copyEntries, runAppendHooks, runHook } from "./hooks.ts"
import type { Hooks } from "./hooks.ts"
import { infoText } from "../info/info-store.ts"
import type { LogStore } from "../log/log-store.ts"
import type { PieceSizes } from "../log/pieces.ts"
import type { PendingAppend } from "../write/pending.ts"
import { entriesOf, isTalk } from "../write/pending.ts"
import { placeAppend } from "../write/placing.ts"
import type { Given } from "../write/placing.ts"
import type { Prepared } from "../write/prepare.ts"
import { aborted, otherWriter } from "../write/queue-errors.ts"
import { checkSizes, checkWaiting, entriesBytes } from "../write/room.ts"
import { rest } from "./rooms.ts"
import type { SessionState } from "../write/session-state.ts"
import { TurnLock } from "./turn-lock.ts"
import type { RunningTurn } from "./turn-lock.ts"
import type { AppendOptions, AppendResult, ConflictPolicy, PersistAfter } from "./types.ts"
import { WriteQueue } from "../write/write-queue.ts"
import type { QueueHost } from "../write/write-queue.ts"

export interface SharedOptions {
  readonly hooks: readonly Hooks[]
  readonly persistAfter: PersistAfter
  readonly onConflict: ConflictPolicy
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly oversize: "blobs" | "truncate"
  /** How much of a log is read at a time. */
  readonly pieces: PieceSizes
  readonly newId: () => string
  readonly now: () => number
}

/** Why a session can be read only, or what must happen before its first write. */
export type WriteGate =
  | { readonly kind: "open" }
  | { readonly kind: "refused"; readonly error: SessionError }
  /** The stored log is of an older version: the first write migrates it. */
  | { readonly kind: "migrate"; readonly migrate: () => Promise<void> }

export class SharedSession implements QueueHost {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  readonly store: LogStore
  readonly options: SharedOptions
  readonly events: Emitter = new Emitter()
  readonly turns: TurnLock = new TurnLock()
  readonly diagnostics: Diagnostic[]
  gate: WriteGate = { kind: "open" }
  /** One compaction at a time; `failures` in a row; the rule of which it was told that it keeps all there is. */
  readonly compaction: { running: boolean; failures: number; stuck?: string | undefined } = {
    running: false,
    failures: 0,
  }
  /** Called where a handle is closed: each looks whether it was its own. */
  readonly asking: Set<() => void> = new Set()
  readonly #queue: WriteQueue
  /** Appends that wait in memory for the message that creates their session. */
  #waiting: PendingAppend[] = []
  #waitingBytes = 0
  /** Appends that wait for hooks, or for a migration, take their places one after the other. */
  #hooked: Promise<void> = Promise.resolve()
  #hookedCount = 0

  constructor(o: { state: SessionState; store: LogStore; options: SharedOptions }) {
    this.id = o.store.id
    this.storage = o.store.storage
    this.state = o.state
    this.store = o.store
    this.options = o.options
    this.diagnostics = o.store.diagnostics
    this.#queue = new WriteQueue(this)
  }

  get maxSessionBytes(): number {
    return this.options.maxSessionBytes
  }

  append(entries: readonly NewEntry[], o: AppendOptions = {}): Promise<AppendResult> {
    const turn = this.turns.running
    try {
      const direct = this.gate.kind === "open" && this.options.hooks.every((hook) => hook.append === undefined)
      // Whoever comes later must not overtake those that still wait for their hooks.
      const placed = direct && this.#hookedCount === 0 ? this.#place(entries, o, turn) : undefined
      return placed instanceof Promise ? placed : this.#placeLater(copyEntries(entries), o, turn, placed)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Waits until every append made so far is settled. `indeterminate` where that cannot be. */
  async drain(): Promise<void> {
    await this.#hooked
    await this.#queue.flush()
  }

  get midTurn(): boolean {
    return this.turns.running?.phase === "written"
  }

  /** After the hooks, and when there is all that placing needs. */
  #placeLater(
    entries: readonly NewEntry[],
    o: AppendOptions,
    turn: RunningTurn | undefined,
    given: Given | undefined,
  ): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(aborted(this.id, o.signal as AbortSignal, false))
      o.signal?.addEventListener("abort", abort, { once: true })
      const place = async (): Promise<void> => {
        if (o.signal?.aborted === true) throw aborted(this.id, o.signal, false)
        if (this.gate.kind === "refused") throw this.gate.error
        if (this.gate.kind === "migrate") await this.gate.migrate()
        const changed = await runAppendHooks(this.options.hooks, entries, this.id)
        const placed = this.#place(changed, o, turn, given)
        if (placed instanceof Promise) return resolve(placed)
        // Nobody behind it waits for code that nobody wants any more. Who gave it up has been told of that by then.
        await unlessAborted(rest.load(), o.signal, { session: this.id, message: "The append was aborted." })
        resolve(this.#place(changed, o, turn, placed) as Promise<AppendResult>)
      }
      const done = (): void => {
        this.#hookedCount--
        o.signal?.removeEventListener("abort", abort)
      }
      this.#hookedCount++
      this.#hooked = this.#hooked.then(place).catch(reject).finally(done)
    })
  }

  /**
   * Gives entries their place in memory, and queues them. Throws before anything has changed. Where some may be too large for a line
   * and the code for that is not loaded, nothing has changed either: the next try takes what this one was given.
   */
  #place(
    inputs: readonly NewEntry[],
    o: AppendOptions,
    turn: RunningTurn | undefined,
    given?: Given,
  ): Promise<AppendResult> | Given {
    if (o.signal?.aborted === true) throw aborted(this.id, o.signal, false)
    const placed = placeAppend(this.id, this.state, inputs, this.options, rest.now, given)
    if (placed.fresh === undefined) return placed
    const { ids, fresh } = placed
    if (fresh.length === 0) return this.#alreadyThere(ids, o)
    const sized = fresh.map((one) => one.sized)
    const wait = this.#mustWait(fresh)
    const headerBytes = this.state.head === undefined ? utf8Length(encodeHeader(this.state.header)) + 1 : 0
    checkSizes(this.id, sized, this.storage.capabilities, headerBytes)
    if (wait) checkWaiting(this, sized, headerBytes + this.#waitingBytes)
    const item = this.#toItem(fresh, o, turn)
    for (const one of fresh) this.state.place(one.pending, one.entry)
    if (wait) {
      item.waited = true
      this.waitForCreation([item])
      return Promise.resolve({ ids, head: undefined, durable: false })
    }
    const settled = this.#waitFor(item, ids, o)
    this.#waitingBytes = 0
    this.#queue.push([...this.#waiting.splice(0), item])
    if (fresh.length === ids.length) return settled
    const repeated = ids.filter((id) => fresh.every(({ pending }) => pending.id !== id))
    return this.#bothThere(settled, this.#alreadyThere(repeated, o))
  }

  /** Part of the request is a repetition: all of it is there when that is, too. */
  async #bothThere(fresh: Promise<AppendResult>, repeated: Promise<AppendResult>): Promise<AppendResult> {
    const [result] = await Promise.all([fresh, repeated])
    return { ...result, head: this.state.head }
  }

  /** A repeated request: learns what becomes of the one that it repeats. */
  async #alreadyThere(ids: readonly string[], o: AppendOptions): Promise<AppendResult> {
    const pending = ids.filter((id) => (this.state.log.find(id) as Seq) >= this.state.acked)
    const items = pending.length === 0 ? [] : this.#queue.holding(pending)
    await Promise.all(items.map((item) => this.#waitFor(item, ids, o)))
    return { ids, head: this.state.head, durable: this.state.head !== undefined }
  }

  #toItem(fresh: readonly Prepared[], o: AppendOptions, turn: RunningTurn | undefined): PendingAppend {
    const talks = fresh.some(({ pending }) => isTalk(pending))
    // A compaction within a turn is none of what the turn says: what it says first may still start it over.
    const says = fresh.some(({ pending }) => isTalk(pending) && pending.type !== "compaction")
    const opens = says && turn?.phase === "unopened" ? turn : undefined
    const policy = o.onConflict ?? (opens === undefined ? this.options.onConflict : "retry-turn")
    if (turn !== undefined && talks && o.onConflict === undefined && (turn.conflicted || (opens && turn.stale))) {
      turn.conflicted = true
      throw otherWriter(this)
    }
    if (opens !== undefined) opens.phase = "opening"
    const item: PendingAppend = {
      entries: fresh.map(({ pending }) => pending),
      callers: [],
      policy,
      fate: "queued",
      lines: undefined,
      landed: false,
      waited: false,
      putBlobs: undefined,
      ready: undefined,
      opens,
      diverged: undefined,
    }
    if (fresh.some(({ blobs }) => blobs.length > 0))
      item.putBlobs = async () => (await rest.load()).putPlanned(this.storage, item, fresh)
    return item
  }

  #mustWait(fresh: readonly Prepared[]): boolean {
    if (this.state.head !== undefined || this.options.persistAfter === "create" || this.#queue.length > 0) return false
    return !fresh.some(({ entry }) => {
      const role = entry.type === "message" ? (entry["message"] as { role?: unknown }).role : undefined
      return role === "assistant" || (role === "user" && this.options.persistAfter === "user")
    })
  }

  #waitFor(item: PendingAppend, ids: readonly string[], { signal }: AppendOptions): Promise<AppendResult> {
    return waitFor(item, ids, { queue: this.#queue, session: this.id, signal })
  }

  // ---- what the queue asks and tells ---------------------------------------------------------------------------------------------

  infoText(pendingEntries: number): string | undefined {
    const fold = this.state.foldAt(pendingEntries)
    return fold === undefined ? undefined : infoText(fold)
  }

  acknowledged(seqs: readonly Seq[], head: Head): void {
    const savers = this.options.hooks.filter((hook) => hook.save !== undefined)
    if (savers.length === 0 && !this.events.has("appended")) return
    const entries = seqs.map((seq) => this.state.log.at(seq) as Entry)
    const saved = { session: this.id, ids: entries.map((entry) => entry.id), head }
    for (const hook of savers) runHook("save", () => hook.save?.(saved), this.hookFailed)
    this.events.emit("appended", { entries, head })
  }

  readonly hookFailed = (hook: string, error: unknown): void => this.events.emit("hook_failed", { hook, error })

  rolledBack(ids: readonly string[], error: unknown): void {
    this.events.emit("rolled_back", { ids, error })
  }

  /** Also what waited for a creation that failed; nothing has come behind it meanwhile. */
  waitForCreation(items: readonly PendingAppend[]): void {
    this.#waiting.push(...items)
    this.#waitingBytes += entriesBytes(entriesOf(items))
  }

  foreign(entries: readonly Entry[]): void {
    const { running } = this.turns
    if (running?.phase === "unopened" && entries.some(isTalk)) running.stale = true
    this.events.emit("foreign", { entries })
  }

  diverged(leaf: string, otherLeaf: string): void {
    const message = `Another writer has continued this session at once: the log has the two leaves ${leaf} (this one) and ${otherLeaf}.`
    this.events.emit("diverged", { leaf, otherLeaf })
    // Two writers who both go on diverge with each append.
    this.note({ code: "diverged", leaf, otherLeaf, message })
  }

  /** Takes down what happens again and again: the last word on it is enough. */
  note(diagnostic: Diagnostic): void {
    const known = this.diagnostics.findIndex(({ code }) => code === diagnostic.code)
    if (known < 0) this.diagnostics.push(diagnostic)
    else this.diagnostics[known] = diagnostic
    this.events.emit("diagnostic", diagnostic)
  }

  /** What a code says is no longer so. */
  forget(code: Diagnostic["code"]): void {
    const known = this.diagnostics.findIndex((diagnostic) => diagnostic.code === code)
    if (known >= 0) this.diagnostics.splice(known, 1)
  }

  /** Loads the log that now stands in its place, if it is this session's own; says whether it was. */
  async reload(): Promise<boolean> {
    return (await rest.load()).reload(this)
  }
}

export { BRANCH_TARGET } from "../write/placing.ts"
