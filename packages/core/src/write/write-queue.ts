/**
 * The append queue of one session: one batch is in flight, and the appends that arrive meanwhile form the next. It handles batches that
 * fail, that have an unknown outcome, or that conflict with another writer's. Rules: `docs/contract.md`, "The append queue".
 */
import { hasCode, type SessionError } from "../format/errors.ts"
import type { Entry } from "../format/entry.ts"
import type { Divergence } from "../log/diverged.ts"
import type { LogStore } from "../log/load.ts"
import { tick } from "../storage/clock.ts"
import { isSameLine } from "../storage/head.ts"
import { onAbort } from "../storage/signals.ts"
import type { Head, Seq } from "../storage/contract.ts"
import { applyRemote } from "./reconcile.ts"
import {
  abortedError,
  behindUnknownError,
  idExistsError,
  otherWriterError,
  unknownOutcomeError,
  deletedSessionError,
} from "./errors.ts"
import { batchOf, entriesBytes, type BeyondLimit, beyondLimitIn } from "./limits.ts"
import type { KnownLosses } from "./losses.ts"
import {
  acknowledge,
  type Caller,
  entriesOf,
  hasOldBlobs,
  leafAfter,
  type PendingAppend,
  refuse,
  requeue,
  storedBytes,
  storedLine,
} from "./pending.ts"
import { isHeldEnd, type RemoteLines, type ResolveContext, resolveEnd } from "./resolve-outcome.ts"
import type { AppendResult } from "./types.ts"
import { type LogEnd, readEnd, writeLines } from "./writer.ts"

/** The session that a queue writes for. None of the notifications may throw. */
export interface QueueContext extends ResolveContext {
  readonly store: Pick<LogStore, "outdated">
  /** A turn is running that has been written in part. */
  readonly midTurn: boolean
  readonly maxSessionBytes: number
  /** Milliseconds since the epoch. */
  now(): number
  /** Makes the session information to send with a batch, as of its last entry. */
  infoText(pendingEntries: number): (() => string | undefined) | undefined
  /** Own entries are in the log, at these seqs. */
  acknowledged(seqs: readonly Seq[], head: Head): void
  rolledBack(ids: readonly string[], error: unknown): void
  /** The log has lost lines that were acknowledged. */
  lost(loss: SessionError): void
  foreign(entries: readonly Entry[]): void
  diverged(divergence: Divergence): void
}

/** A caller that waits until other writers' lines have been read. */
interface Refresh {
  /** A head that the storage has reported; undefined: the end of the log is read in any case. */
  readonly seen: Head | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class WriteQueue {
  readonly #context: QueueContext
  /** Everything pending, in order. Appends that were sent, and those whose outcome is unknown, come first. */
  #items: PendingAppend[] = []
  readonly #refreshes: Refresh[] = []
  /** An outcome could not be found out: the next append, or a flush, tries again. */
  #resting = false
  #running = false
  /** The last batch was of more than one append. */
  #wroteMany = false
  /** Bytes of a batch: fewer than the storage takes after one was refused on the way there. */
  #mostBytes: number

  constructor(context: QueueContext) {
    this.#context = context
    this.#mostBytes = context.storage.capabilities.maxBatchBytes
  }

  /** Pending appends. */
  get length(): number {
    return this.#items.length
  }

  /** Queues an append whose entries are in the state already, and starts putting its blobs. {@link wake} starts writing. */
  push(item: PendingAppend): void {
    if (item.putBlobs !== undefined && item.putAt === undefined) {
      item.ready ??= item.putBlobs()
      // The queue awaits it when the item's turn comes; until then a rejection is not unhandled.
      item.ready.catch(() => undefined)
    }
    this.#items.push(item)
  }

  /** Starts writing, and tries again to find out the outcomes that are unknown. */
  wake(): void {
    this.#resting = false
    if (!this.#running) void this.#run()
  }

  /**
   * Takes over what other writers appended, as after a conflict, when no batch is in flight. With the head that was seen: only if the
   * session does not have it yet. Rejects with the errors of reading, and with `not_found`; the appends that are pending are not affected.
   */
  refresh(seen?: Head): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#refreshes.push({ seen, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  /** The pending appends that hold these entries. */
  holding(ids: readonly string[]): PendingAppend[] {
    const wanted = new Set(ids)
    return this.#items.filter((item) => item.entries.some((entry) => wanted.has(entry.id)))
  }

  /** Waits for a pending append. Before it is sent, the signal withdraws it; afterwards the signal only ends the waiting. */
  waitFor(
    item: PendingAppend,
    ids: readonly string[],
    signal: AbortSignal | undefined,
    losses?: KnownLosses,
  ): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      const caller = { ids, resolve, reject, losses }
      item.callers.push(caller)
      if (signal === undefined) return
      const { id } = this.#context
      const off = onAbort(signal, () => {
        if (this.#withdraw(item, caller, abortedError(id, signal, false))) return
        item.callers = item.callers.filter((one) => one !== caller)
        caller.reject(abortedError(id, signal, true))
      })
      caller.resolve = (result) => (off(), resolve(result))
      caller.reject = (error) => (off(), reject(error))
    })
  }

  /** Resolves when the outcome of everything queued now is known. Rejects with `indeterminate` if one cannot be found out. */
  async flush(): Promise<void> {
    let unknown: unknown
    const all = this.#items.map(async (item) => {
      try {
        await this.waitFor(item, [], undefined)
      } catch (error) {
        if (hasCode(error, "indeterminate")) unknown = error
      }
    })
    if (all.length > 0) this.wake()
    await Promise.all(all)
    if (unknown !== undefined) throw unknown
  }

  /** Withdraws an append that was not sent, with all that is queued behind it. False: it was sent, or others wait for it too. */
  #withdraw(item: PendingAppend, caller: Caller, error: unknown): boolean {
    const index = this.#items.indexOf(item)
    const others = item.callers.some((other) => other !== caller && other.ids.length > 0)
    if (index < 0 || !isWhollyQueued(item) || others) return false
    this.#fail(index, error)
    return true
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#mayWrite || this.#refreshes.length > 0) {
      if (this.#refreshes.length > 0) await this.#refresh(this.#refreshes.splice(0))
      if (!this.#mayWrite) continue
      try {
        if (this.#mayGather()) await this.#gather()
        await this.#step()
      } catch (error) {
        // A step handles its own failures; after any other error no caller may be left waiting.
        this.#giveUp(error)
      }
    }
    this.#running = false
  }

  /** Never rejects: appends do not depend on it. Nothing is read for callers who have all seen the head that the session has. */
  async #refresh(waiting: readonly Refresh[]): Promise<void> {
    const context = this.#context
    const { id, storage, state } = context
    const { head } = state
    try {
      if (!waiting.every(({ seen }) => seen?.next === head.next && seen.log === head.log && isSameLine(seen, head))) {
        const end = await readEnd(storage, id, head)
        const isHeld = end?.head.log === head.log && end.lines.length === 1 && isHeldEnd(state, end.lines[0])
        if (isHeld) state.sure = state.acknowledged
        else {
          const error = await this.#resolve(end)
          if (error !== undefined) throw error
        }
        // The storage answers, so outcomes that are unknown can be found out.
        this.#resting = false
      }
      for (const { resolve } of waiting) resolve()
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  get #mayWrite(): boolean {
    return this.#items.length > 0 && !this.#resting
  }

  #mayGather(): boolean {
    return this.#context.storage.capabilities.durability === "disk" && this.#items[0]?.outcome !== "unknown"
  }

  /**
   * A sync takes many times as long as a tick, so appends that are about to be made are waited for; but not for one caller who awaits
   * each append, since no other is about to come.
   */
  async #gather(): Promise<void> {
    await Promise.resolve()
    if (this.#wroteMany || this.#items.length > 1) await tick()
  }

  /**
   * Writes the next batch, or changes the queue so that another one is next. Nothing is awaited between the choice of a batch and its
   * write: meanwhile a signal could withdraw an append of it, which would be sent all the same.
   */
  #step(): Promise<void> {
    const context = this.#context
    const [first] = this.#items
    // Everything was withdrawn.
    if (first === undefined) return Promise.resolve()
    if (first.ready !== undefined) return this.#awaitBlobs(first, first.ready)
    const group = this.#items.slice(0, batchOf(this.#items, this.#mostBytes))
    const beyond = first.outcome !== "unknown" && beyondLimitIn(context, group)
    return beyond ? this.#refuse(beyond) : this.#send(group)
  }

  /** Writes a batch, or puts its old blobs again, so that the next step writes it. */
  #send(group: readonly PendingAppend[]): Promise<void> {
    for (const item of group) if (hasOldBlobs(item, this.#context)) return this.#awaitBlobs(item, item.putBlobs?.())
    return this.#write(group)
  }

  async #awaitBlobs(item: PendingAppend, put: Promise<void> | undefined): Promise<void> {
    try {
      await put
    } catch (error) {
      item.ready = undefined
      const index = this.#items.indexOf(item)
      if (index < 0) return
      // Without its blobs nothing of it can be sent.
      if (item.putAt === undefined || isWhollyQueued(item)) this.#fail(index, error)
      else this.#giveUp(error)
    }
  }

  /** The log may be shorter than it was counted, or replaced by a shorter one, so its head is read before an append is refused. */
  async #refuse({ item, error }: BeyondLimit): Promise<void> {
    const { id, storage, state } = this.#context
    const end = await readEnd(storage, id, state.head)
    const same = end?.head.log === state.head.log && end.head.next === state.acknowledged
    if (!same) return void (await this.#resolve(end))
    // The count is an upper bound: a line that refers to an older entry may have been counted with a hint that it was written without.
    if (end.head.bytes < state.bytes) {
      state.bytes = end.head.bytes
      return
    }
    // It may have been withdrawn while the head was read.
    const index = this.#items.indexOf(item)
    if (index >= 0) this.#fail(index, error)
  }

  async #write(group: readonly PendingAppend[]): Promise<void> {
    const context = this.#context
    const { id, storage, state } = context
    this.#wroteMany = group.length > 1
    const unknown = group[0]?.outcome === "unknown"
    let seq = state.acknowledged
    const lines: string[] = []
    for (const item of group) {
      if (item.outcome === "queued") item.outcome = "sent"
      const from = seq
      item.lines ??= item.entries.map((entry, index) => storedLine(entry, from + index, state.log))
      for (const line of item.lines) lines.push(line)
      seq += item.entries.length
    }
    const written = await writeLines(storage, id, lines, {
      expect: state.head,
      info: context.infoText(seq - state.acknowledged),
      unknown,
      isLast: (line) => isHeldEnd(state, line),
    })
    if (written.kind === "unknown" || written.kind === "refused")
      return this.#writeFailed(group, written.kind === "unknown", written.error)
    const mayBeIn = written.kind === "committed" || written.mayBeIn
    try {
      // A collector may have removed the blobs before the lines arrived that name them.
      if (mayBeIn) for (const item of group) if (hasOldBlobs(item, context)) await item.putBlobs?.()
      if (written.kind === "committed") this.#commit(group, written.head)
      else await this.#resolve(written.end)
    } catch (error) {
      this.#writeFailed(group, mayBeIn, error)
    }
  }

  #writeFailed(group: readonly PendingAppend[], unknown: boolean, error: unknown): void {
    for (const item of group) {
      if (unknown) item.outcome = "unknown"
      else requeue(item)
    }
    // If an earlier try arrives late, a part of the same lines meets it as the whole would.
    if (this.#wroteMany && hasCode(error, "too_large")) this.#mostBytes = entriesBytes(entriesOf(group)) / 2
    else this.#giveUp(error)
  }

  #commit(group: readonly PendingAppend[], head: Head): void {
    const { state } = this.#context
    const seqs: Seq[] = []
    let bytes = 0
    let seq = state.acknowledged
    for (const item of group) {
      for (const entry of item.entries) {
        bytes += storedBytes(entry, seq, state.log)
        seqs.push(seq++)
      }
      state.acknowledgedLeafId = leafAfter(item.entries, state.acknowledgedLeafId)
      acknowledge(item, { next: seq, log: head.log })
    }
    this.#items.splice(0, group.length)
    state.acknowledge(seqs.length, head, bytes)
    this.#context.acknowledged(seqs, head)
  }

  /**
   * The log ends otherwise than expected: takes over what it has, and decides what becomes of everything pending. Returns the error if it
   * is gone, or has lost lines that were acknowledged.
   */
  async #resolve(end: LogEnd | undefined): Promise<SessionError | undefined> {
    const context = this.#context
    const resolved = await resolveEnd(context, end)
    if (resolved.kind === "gone") {
      for (const item of this.#items) requeue(item)
      context.store.outdated = true
      const lost = context.state.ownFrom(0)
      this.#fail(0, deletedSessionError(context, lost, " Nothing was written."))
      return deletedSessionError(context, lost)
    }
    await this.#hashed(resolved)
    const { state } = context
    const loss = resolved.kind === "reloaded" ? resolved.loss : undefined
    const items = this.#items
    const change = applyRemote(state, loss ? [] : items, resolved, context.midTurn)
    const { committed, ownSeqs, foreign, divergence } = change
    this.#items = [...change.pending]
    if (resolved.kind === "lines")
      state.sure = context.storage.capabilities.atomicBatch === "all" ? state.acknowledged : resolved.from
    for (const seq of ownSeqs) state.appended(seq, seq + 1)
    const { head } = state
    for (const item of committed) acknowledge(item, head)
    if (ownSeqs.length > 0) context.acknowledged(ownSeqs, head)
    // Before the listeners, which may append.
    if (loss !== undefined) context.lost(loss)
    // Before the refusals: a turn whose own append is refused learns of the conflict from that.
    if (foreign.length > 0) context.foreign(foreign)
    const { taken, refused } = change
    const refusal =
      taken === undefined ? otherWriterError(context) : idExistsError(context.id, taken, refused[0]?.committed)
    if (loss === undefined) this.#leaveRefused(refused, refusal)
    else this.#leave(items, loss)
    if (divergence !== undefined) context.diverged(divergence)
    return loss
  }

  /** Waits for the blobs of appends whose ids are among the found lines: without the hashes the contents cannot be compared. */
  async #hashed({ slots }: RemoteLines): Promise<void> {
    const putting = this.#items.filter(({ ready }) => ready !== undefined)
    if (putting.length === 0) return
    const found = new Set(slots.map((slot) => slot?.id))
    for (const { ready, entries } of putting) {
      if (entries.some(({ id }) => found.has(id))) await ready?.catch(() => undefined)
    }
  }

  /**
   * Nothing can be written now. Appends whose outcome is unknown, and those that are committed in part, stay until the next try; the
   * others were not sent, or were refused for certain, and fail.
   */
  #giveUp(cause: unknown): void {
    const kept = this.#items.filter((item) => !isWhollyQueued(item))
    if (kept.length === 0) return this.#fail(0, cause)
    this.#resting = true
    const callers = kept.flatMap((item) => item.callers)
    for (const item of kept) {
      item.outcome = "unknown"
      item.callers = []
    }
    this.#fail(kept.length, behindUnknownError(this.#context, cause))
    const error = unknownOutcomeError(this.#context, cause)
    for (const { reject } of callers) reject(error)
  }

  /** Items from `index` on certainly failed: they leave memory, since each follows the one before it. */
  #fail(index: number, error: unknown): void {
    const failed = this.#items.splice(index)
    this.#context.state.keepPending(entriesOf(this.#items))
    this.#leave(failed, error)
  }

  /** Those of a turn that has lost its lease learn why, and that no repetition helps. */
  #leaveRefused(refused: readonly PendingAppend[], refusal: SessionError): void {
    const isOfLost = ({ lease }: PendingAppend): boolean => lease?.isLost === true
    const own = refused.filter(isOfLost)
    this.#leave(own, own[0]?.lease?.error())
    this.#leave(
      refused.filter((item) => !isOfLost(item)),
      refusal,
    )
  }

  /** Reports appends that have left memory. */
  #leave(items: readonly PendingAppend[], error: unknown): void {
    if (items.length === 0) return
    for (const item of items) refuse(item, error)
    const ids = entriesOf(items).map((entry) => entry.id)
    this.#context.rolledBack(ids, error)
  }
}

function isWhollyQueued(item: PendingAppend): boolean {
  return item.outcome === "queued" && !item.committed
}
