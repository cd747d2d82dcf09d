/**
 * The append queue of one session: one batch in flight, what arrives meanwhile goes out together in the next. Knows what to do
 * when a batch fails, when nobody can say whether it arrived, and when another writer was there first. `docs/contract.md`, "The
 * append queue", states the rules.
 */
import { encodeHeader } from "../format/line.ts"
import type { Entry } from "../format/records.ts"
import { utf8Length } from "../storage/checks.ts"
import type { Head, Seq } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { tick } from "../storage/clock.ts"
import { acknowledge, entriesOf, leafAfter, refuse, requeue } from "./pending.ts"
import type { Caller, PendingAppend } from "./pending.ts"
import { behindUnknown, gone, otherWriter, taken, unknownOutcome } from "./errors.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { applyRemote } from "./apply-remote.ts"
import { batchOf, refusal, surelyFits } from "./limits.ts"
import { isOutcomeUnknown, resolveOutcome, sendGroup } from "./send.ts"
import type { SendContext } from "./send.ts"
import type { Found } from "./resolve-outcome.ts"

/** What the queue needs of the session it writes for, and tells it. None of what it tells may throw. */
export interface QueueContext extends SendContext {
  /** A turn is running that has been written in part. */
  readonly midTurn: boolean
  /** Own entries are in the log, at these places. */
  acknowledged(seqs: readonly Seq[], head: Head): void
  rolledBack(ids: readonly string[], error: unknown): void
  /** A creation failed; these, acknowledged as not durable, wait for the next one. */
  waitForCreation(items: readonly PendingAppend[]): void
  foreign(entries: readonly Entry[]): void
  diverged(leaf: string, otherLeaf: string): void
}

export class WriteQueue {
  readonly #host: QueueContext
  /** Everything pending, in order. Those that were sent, and those whose fate is unknown, come first. */
  #items: PendingAppend[] = []
  /** What is doubtful could not be settled: the next append, or a flush, tries again. */
  #resting = false
  #running = false
  /** The last group was of more than one append. */
  #wroteMany = false

  constructor(host: QueueContext) {
    this.#host = host
  }

  /** Pending appends that are not waiting for their session to be created. */
  get length(): number {
    return this.#items.length
  }

  /** Queues appends whose entries have their place in the state, and starts writing. */
  push(items: readonly PendingAppend[]): void {
    for (const item of items) {
      item.ready ??= item.putBlobs?.()
      // The queue looks at it when the item's turn comes; until then a rejection is nobody's.
      item.ready?.catch(() => undefined)
      this.#items.push(item)
    }
    this.#wake()
  }

  /** The pending appends that hold these entries; settles what is doubtful, since somebody asks for it. */
  holding(ids: readonly string[]): PendingAppend[] {
    const wanted = new Set(ids)
    const found = this.#items.filter((item) => item.entries.some((entry) => wanted.has(entry.id)))
    if (found.length > 0) this.#wake()
    return found
  }

  /** Resolves when all that is queued now is settled, in whatever way. Rejects with `indeterminate` where that cannot be. */
  async flush(): Promise<void> {
    let unknown: unknown
    const all = this.#items.map((item) => {
      const settled = new Promise<void>((resolve) => {
        const reject = (error: unknown): void => {
          if (hasCode(error, "indeterminate")) unknown = error
          resolve()
        }
        item.callers = [...item.callers, { ids: [], resolve: () => resolve(), reject }]
      })
      return settled
    })
    if (all.length > 0) this.#wake()
    await Promise.all(all)
    if (unknown !== undefined) throw unknown
  }

  /** Withdraws an append that was not sent, with all that is queued behind it. False: it was sent, or others wait for it too. */
  withdraw(item: PendingAppend, caller: Caller, error: unknown): boolean {
    const index = this.#items.indexOf(item)
    const others = item.callers.some((other) => other !== caller && other.ids.length > 0)
    if (index < 0 || !isWhollyQueued(item) || others) return false
    this.#fail(index, error)
    return true
  }

  #wake(): void {
    this.#resting = false
    if (!this.#running) void this.#run()
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#items.length > 0 && !this.#resting) {
      try {
        await this.#step()
      } catch (error) {
        // A step settles its own failures; whatever else comes must not leave callers waiting.
        this.#giveUp(error)
      }
    }
    this.#running = false
  }

  async #step(): Promise<void> {
    const host = this.#host
    const doubtful = this.#items.filter(({ outcome }) => outcome === "unknown")
    if (doubtful.length > 0) return this.#write(doubtful)
    if (host.storage.capabilities.durability === "disk") await this.#gather()
    const first = this.#items[0]
    if (first?.ready !== undefined) return this.#complete(first)
    const group = this.#group()
    if (group.length === 0) return
    if (!surelyFits(host, group)) {
      if (!host.state.bytesExact) return this.#countBytes()
      const room = refusal(host, group)
      if (room !== undefined) return this.#fail(room.fits, room.refused)
    }
    await this.#write(group)
  }

  /**
   * A sync takes many times as long as a turn of the event loop, so what is about to be appended is waited for; but not for one caller who
   * awaits each append, since nobody else is about to.
   */
  async #gather(): Promise<void> {
    await Promise.resolve()
    if (this.#wroteMany || this.#items.length > 1) await tick()
  }

  /** What goes out together. */
  #group(): readonly PendingAppend[] {
    const most = this.#host.storage.capabilities.maxBatchBytes - this.#headerBytes()
    return this.#items.slice(0, batchOf(this.#items, most))
  }

  /** The header's line goes out with the first batch. */
  #headerBytes(): number {
    const { state } = this.#host
    return state.head === undefined ? utf8Length(encodeHeader(state.header)) + 1 : 0
  }

  async #complete(item: PendingAppend): Promise<void> {
    try {
      await item.ready
    } catch (error) {
      item.ready = undefined
      const index = this.#items.indexOf(item)
      if (index >= 0) this.#fail(index, error)
    }
  }

  async #countBytes(): Promise<void> {
    const { id, storage, state } = this.#host
    if (state.head === undefined) return state.count(this.#headerBytes())
    try {
      const head = await retryUnavailable(() => storage.head(id))
      if (head?.log === state.head.log) state.count(head.bytes)
      else await this.#take(await resolveOutcome(this.#host))
    } catch (error) {
      this.#giveUp(error)
    }
  }

  async #write(group: readonly PendingAppend[]): Promise<void> {
    this.#wroteMany = group.length > 1
    const sent = await sendGroup(this.#host, group)
    if (sent.kind === "acknowledged") return this.#commit(group, sent.head)
    if (sent.kind === "found") return this.#take(sent.found)
    if (!isOutcomeUnknown(group)) for (const item of group) requeue(item)
    this.#giveUp(sent.error)
  }

  #commit(group: readonly PendingAppend[], head: Head): void {
    const { state } = this.#host
    const from = state.acknowledged
    this.#items.splice(0, group.length)
    const entries = entriesOf(group)
    state.acknowledgedLeafId = leafAfter(entries) ?? state.acknowledgedLeafId
    state.acknowledge(entries.length, head)
    let next = from
    for (const item of group) {
      next += item.entries.length
      acknowledge(item, { head: { next, log: head.log }, durable: true })
    }
    this.#host.acknowledged(
      entries.map((_, index) => from + index),
      head,
    )
  }

  async #take(found: Found): Promise<void> {
    const host = this.#host
    if (found.kind === "nothing") return
    if (found.kind === "gone" || found.kind === "taken") {
      for (const item of this.#items) requeue(item)
      return this.#fail(0, found.kind === "gone" ? gone(host) : taken(host), { waited: true })
    }
    const arrival = applyRemote(host.state, this.#items, found, host.midTurn)
    const { committed, refused, ownSeqs, foreign, divergence } = arrival
    this.#items = [...arrival.pending]
    const head = host.state.head as Head
    for (const item of committed) acknowledge(item, { head, durable: true })
    if (ownSeqs.length > 0) host.acknowledged(ownSeqs, head)
    // Told first: a turn whose own append is refused has been told by that.
    if (foreign.length > 0) host.foreign(foreign)
    this.#leave(refused, otherWriter(host))
    if (divergence !== undefined) host.diverged(divergence.leaf, divergence.otherLeaf)
  }

  /**
   * Nothing can be written now. What is doubtful, and what is in the log in part, stays until somebody asks again; the rest was
   * not sent, or was refused for certain, and fails.
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
    this.#fail(kept.length, behindUnknown(this.#host, cause))
    const error = unknownOutcome(this.#host, cause)
    for (const { reject } of callers) reject(error)
  }

  /**
   * Items from `index` on certainly failed: they leave memory, since each hangs on the one before it. Those that waited for the
   * session's creation were acknowledged as not durable; they are written with the next try.
   */
  #fail(index: number, error: unknown, o: { readonly waited: boolean } = { waited: false }): void {
    const { state } = this.#host
    const wait = state.head === undefined && !o.waited
    const isKept = (item: PendingAppend, at: number): boolean => at < index || (wait && item.deferred)
    const failed = this.#items.filter((item, at) => !isKept(item, at))
    const kept = this.#items.filter(isKept)
    state.keepPending(entriesOf(kept))
    const waiting = wait && kept.every((item) => item.deferred && item.outcome === "queued")
    this.#items = waiting ? [] : kept
    if (waiting) this.#host.waitForCreation(kept)
    this.#leave(failed, error)
  }

  /** Tells that these are out of memory. */
  #leave(items: readonly PendingAppend[], error: unknown): void {
    if (items.length === 0) return
    for (const item of items) refuse(item, error)
    const ids = entriesOf(items).map((entry) => entry.id)
    this.#host.rolledBack(ids, error)
  }
}

function isWhollyQueued(item: PendingAppend): boolean {
  return item.outcome === "queued" && !item.committed
}
