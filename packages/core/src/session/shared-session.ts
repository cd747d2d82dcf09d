/**
 * One open session, however many handles a repository has on it: its place in memory, its queue, its turn lock. Appends come in
 * here; `reading.ts` has what is read from it.
 */
import { selectContext } from "../context/select.ts"
import { foldState } from "../context/state.ts"
import { SessionError } from "../errors.ts"
import type { BlobLimits } from "../format/blob-refs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { EntryPayload, NewEntry } from "../format/new-entry.ts"
import { normalizeNewEntry } from "../format/normalize.ts"
import type { Entry } from "../format/records.ts"
import { SIDE_ENTRY_TYPES } from "../format/records.ts"
import type { Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { putBlobs } from "./blobs.ts"
import { Emitter } from "./events.ts"
import { runAppendHooks, runHook } from "./hooks.ts"
import type { Hooks } from "./hooks.ts"
import { infoText } from "./info-store.ts"
import type { LogStore } from "./log-store.ts"
import type { PendingAppend } from "./pending.ts"
import { prepareEntry, withBlobs } from "./prepare.ts"
import type { Prepared } from "./prepare.ts"
import { checkSizes } from "./room.ts"
import type { SessionState } from "./session-state.ts"
import { TurnLock } from "./turn-lock.ts"
import type { AppendOptions, AppendResult, ConflictPolicy, PersistAfter } from "./types.ts"
import { WriteQueue } from "./write-queue.ts"
import type { QueueHost } from "./write-queue.ts"

export interface SharedOptions {
  readonly hooks: readonly Hooks[]
  readonly persistAfter: PersistAfter
  readonly onConflict: ConflictPolicy
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
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
  gate: WriteGate
  /** One compaction at a time. */
  compacting = false
  /** Loads the log anew; set by whoever opened it. */
  readonly #reload: (shared: SharedSession, head: HeadInfo) => Promise<boolean>
  readonly #queue: WriteQueue
  /** Appends that wait in memory for the message that creates their session. */
  #waiting: PendingAppend[] = []
  /** With `append` hooks, appends take their places one after the other. */
  #hooked: Promise<unknown> = Promise.resolve()

  constructor(o: {
    state: SessionState
    store: LogStore
    options: SharedOptions
    gate: WriteGate
    reload: (shared: SharedSession, head: HeadInfo) => Promise<boolean>
  }) {
    this.id = o.store.id
    this.storage = o.store.storage
    this.state = o.state
    this.store = o.store
    this.options = o.options
    this.diagnostics = o.store.diagnostics
    this.gate = o.gate
    this.#reload = o.reload
    this.#queue = new WriteQueue(this)
  }

  get maxSessionBytes(): number {
    return this.options.maxSessionBytes
  }

  append(entries: readonly NewEntry[], o: AppendOptions = {}): Promise<AppendResult> {
    const { hooks } = this.options
    if (this.gate.kind === "open" && !hooks.some((hook) => hook.append !== undefined)) {
      try {
        return this.#place(entries, o)
      } catch (error) {
        return Promise.reject(error)
      }
    }
    const placed = this.#hooked.then(async () => {
      await this.#passGate()
      const changed = await runAppendHooks(hooks, entries, this.id)
      return { result: this.#place(changed, o) }
    })
    this.#hooked = placed.catch(() => undefined)
    return placed.then(({ result }) => result)
  }

  /** Waits for every append made so far. */
  async drain(): Promise<void> {
    await this.#hooked
    await this.#queue.drain()
  }

  get hasPending(): boolean {
    return this.#queue.length > 0
  }

  async #passGate(): Promise<void> {
    if (this.gate.kind === "refused") throw this.gate.error
    if (this.gate.kind === "migrate") await this.gate.migrate()
  }

  /** Gives entries their place in memory, and queues them. Throws before anything has changed. */
  #place(inputs: readonly NewEntry[], o: AppendOptions): Promise<AppendResult> {
    if (o.signal?.aborted === true) throw aborted(this.id, o.signal, false)
    if (inputs.length === 0) throw new SessionError("invalid", "There is no entry to append.", { session: this.id })
    const prepared = this.#prepare(inputs)
    checkSizes(
      this.id,
      prepared.fresh.map((one) => one.sized),
      this.storage.capabilities,
    )
    if (prepared.fresh.length === 0) return this.#alreadyThere(prepared.ids)
    for (const one of prepared.fresh) this.state.place(one.pending, one.entry)
    return this.#enqueue(prepared.ids, prepared.fresh, o)
  }

  #prepare(inputs: readonly NewEntry[]): { ids: readonly string[]; fresh: readonly Prepared[] } {
    const timestamp = new Date(this.options.now()).toISOString()
    const ids: string[] = []
    const fresh: Prepared[] = []
    let parentId = this.state.leafId
    let seq = this.state.log.end
    for (const input of inputs) {
      const payload = normalizeNewEntry(input)
      const id = payload.id ?? this.options.newId()
      if (ids.includes(id))
        throw new SessionError("invalid", `The id ${JSON.stringify(id)} is given twice in one append.`, {
          session: this.id,
        })
      ids.push(id)
      // A repeated request doubles nothing.
      if (payload.id !== undefined && this.state.log.find(id) !== undefined) continue
      const target = leafTarget(payload)
      const complete = payload.type === "compaction" ? this.#withState(payload, fresh) : payload
      const place = {
        id,
        parentId: target === undefined ? parentId : target,
        seq,
        timestamp: payload.timestamp ?? timestamp,
      }
      fresh.push(prepareEntry(complete, place, this.options.blobs))
      parentId = id
      seq++
    }
    return { ids, fresh }
  }

  /**
   * A compaction carries what its path folds to, so that opening needs nothing before its kept part. Where that would mean reading
   * further back it goes without: opening reads on then.
   */
  #withState(payload: EntryPayload, before: readonly Prepared[]): EntryPayload {
    const { log, leafId, header } = this.state
    const leaf = leafId === null ? null : log.find(leafId)
    if ("state" in payload || leaf === undefined) return payload
    const selection = selectContext(log, leaf, header)
    if ("older" in selection) return payload
    return {
      ...payload,
      state: foldState(
        before.map(({ entry }) => entry),
        selection.state,
      ),
    }
  }

  async #alreadyThere(ids: readonly string[]): Promise<AppendResult> {
    if (ids.some((id) => (this.state.log.find(id) as Seq) >= this.state.acked)) await this.#queue.drain()
    return { ids, head: this.state.head, durable: this.state.head !== undefined }
  }

  #enqueue(ids: readonly string[], prepared: readonly Prepared[], o: AppendOptions): Promise<AppendResult> {
    const { promise, resolve, reject } = deferred<AppendResult>()
    const talks = prepared.some(({ pending }) => !SIDE_ENTRY_TYPES.has(pending.type))
    const turn = this.turns.running
    const opensTurn = talks && turn?.first === true
    if (opensTurn) turn.first = false
    const item: PendingAppend = {
      entries: prepared.map(({ pending }) => pending),
      ids,
      policy: o.onConflict ?? (opensTurn ? "retry-turn" : this.options.onConflict),
      waited: false,
      sent: false,
      signal: o.signal,
      resolve,
      reject: (error) => {
        if (opensTurn && (error as { code?: unknown }).code === "conflict") turn.conflicted = true
        reject(error)
      },
    }
    this.#putBlobs(item, prepared)
    this.#listen(item, promise)
    if (this.#mustWait(prepared)) {
      item.waited = true
      this.#waiting.push(item)
      resolve({ ids, head: undefined, durable: false })
    } else {
      this.#queue.push([...this.#waiting.splice(0), item])
    }
    return promise
  }

  #mustWait(prepared: readonly Prepared[]): boolean {
    if (this.state.head !== undefined || this.options.persistAfter === "create" || this.#queue.length > 0) return false
    return !prepared.some(({ entry }) => {
      const role = entry.type === "message" ? (entry["message"] as { role?: unknown }).role : undefined
      return role === "assistant" || (role === "user" && this.options.persistAfter === "user")
    })
  }

  #putBlobs(item: PendingAppend, prepared: readonly Prepared[]): void {
    if (prepared.every((one) => one.blobs.length === 0)) return
    const put = async (): Promise<void> => {
      for (const { pending, blobs } of prepared) {
        if (blobs.length === 0) continue
        const stored = withBlobs(pending.full, await putBlobs(this.storage, blobs))
        const entry = item.entries.find((one) => one.id === pending.id)
        // Its parent may have changed meanwhile; that part stands before the seq.
        if (entry !== undefined) entry.stored = { before: entry.full.before, after: stored.after }
      }
      item.ready = undefined
    }
    item.ready = put()
    // The queue looks at it when the item's turn comes; until then a rejection is nobody's.
    item.ready.catch(() => undefined)
  }

  /** Before the write is sent a signal withdraws the entry; afterwards it only ends the waiting. */
  #listen(item: PendingAppend, settled: Promise<unknown>): void {
    const { signal } = item
    if (signal === undefined) return
    const abort = (): void => {
      if (!this.#queue.withdraw(item, aborted(this.id, signal, false))) item.reject(aborted(this.id, signal, true))
    }
    signal.addEventListener("abort", abort, { once: true })
    const off = (): void => signal.removeEventListener("abort", abort)
    settled.then(off, off)
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

  /** A creation failed: what waited for it waits on. */
  waitAgain(items: readonly PendingAppend[]): void {
    this.#waiting.unshift(...items)
  }

  foreign(entries: readonly Entry[]): void {
    this.events.emit("foreign", { entries })
  }

  diverged(leaf: string, otherLeaf: string): void {
    const message = `Another writer has continued this session at once: the log has the two leaves ${leaf} (this one) and ${otherLeaf}.`
    const diagnostic = { code: "diverged", leaf, otherLeaf, message } as const
    this.diagnostics.push(diagnostic)
    this.events.emit("diverged", { leaf, otherLeaf })
    this.events.emit("diagnostic", diagnostic)
  }

  reload(head: HeadInfo): Promise<boolean> {
    return this.#reload(this, head)
  }
}

/** Only a leaf entry names its own parent: the branch target. */
function leafTarget(payload: object): string | null | undefined {
  const { type, [BRANCH_TARGET]: target } = payload as { type?: unknown; [BRANCH_TARGET]?: string | null }
  return type === "leaf" || type === "branch_summary" ? target : undefined
}

/** Carries a branch target from `branch` to the place where parents are given; no caller can spell it. */
export const BRANCH_TARGET: unique symbol = Symbol("branch target")

function aborted(session: string, signal: AbortSignal, sent: boolean): StorageError {
  const message = sent
    ? `The wait for an append to ${session} was aborted; it had been sent, and settles by itself.`
    : `The append to ${session} was aborted before it was sent.`
  return new StorageError("aborted", message, { session, sent, cause: signal.reason })
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
