/**
 * The append queue of one session: one batch in flight, what arrives meanwhile goes out together in the next. Knows what to do
 * when a batch fails, when nobody can say whether it arrived, and when another writer was there first. `docs/contract.md`, "The
 * append queue", states the rules.
 */
import { SessionError } from "../errors.ts"
import { encodeHeader } from "../format/line.ts"
import type { Entry } from "../format/records.ts"
import type { Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError, hasCode } from "../storage/errors.ts"
import { backoff, eventLoopTurn } from "./clock.ts"
import { parseSlot } from "./parse-slots.ts"
import { readLines } from "./loaded-log.ts"
import { storedLine } from "./pending.ts"
import type { PendingAppend, PendingEntry } from "./pending.ts"
import { decide, rehang, sortArrived } from "./reconcile.ts"
import { admit, countBytes, surelyFits } from "./room.ts"
import type { SessionState } from "./session-state.ts"

/** What the queue needs of the session it writes for. */
export interface QueueHost {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  readonly maxSessionBytes: number
  /** The session information to send with a batch, as of its last entry. */
  infoText(pendingEntries: number): string | undefined
  /** Own entries are in the log, at these places. */
  acknowledged(seqs: readonly Seq[], head: Head): void
  rolledBack(ids: readonly string[], error: unknown): void
  /** A creation failed; these, acknowledged as not durable, wait for the next one. */
  waitAgain(items: readonly PendingAppend[]): void
  foreign(entries: readonly Entry[]): void
  diverged(leaf: string, otherLeaf: string): void
  /** The log under the session is another one. Loads it if it is this session's own, rewritten; says whether it was. */
  reload(head: HeadInfo): Promise<boolean>
}

/** How often a storage that is `unavailable` is asked again, and how often a conflict without new lines is believed. */
const TRIES = 3

export class WriteQueue {
  readonly #host: QueueHost
  /** Everything pending, in order; the first {@link #uncertain} items may be in the log already. */
  #items: PendingAppend[] = []
  #uncertain = 0
  /** What is uncertain was answered with `indeterminate`, so that it may still arrive. */
  #doubt = false
  /** Refusals in a row that showed no new line. */
  #refusals = 0
  #running: Promise<void> | undefined

  constructor(host: QueueHost) {
    this.#host = host
  }

  /** Pending appends that are not waiting for their session to be created. */
  get length(): number {
    return this.#items.length
  }

  /** Queues appends whose entries have their place in the state, and starts writing in this same tick. */
  push(items: readonly PendingAppend[]): void {
    this.#items.push(...items)
    this.#running ??= this.#run()
  }

  /** Resolves when nothing is queued. Rejects with `indeterminate` where the fate of something sent cannot be learned. */
  async drain(): Promise<void> {
    if (this.#items.length > 0) this.#running ??= this.#run()
    while (this.#running !== undefined) await this.#running
    if (this.#items.length > 0) throw unknownFate(this.#host, undefined)
  }

  /** Withdraws an append that was not sent, with all that is queued behind it. False: it was sent. */
  withdraw(item: PendingAppend, error: unknown): boolean {
    const index = this.#items.indexOf(item)
    if (index < 0 || item.sent) return false
    this.#fail(index, error)
    return true
  }

  async #run(): Promise<void> {
    try {
      while (this.#items.length > 0) {
        if (this.#uncertain > 0) {
          if (!(await this.#settle())) return
        } else {
          if (this.#host.storage.capabilities.durability === "disk") await eventLoopTurn()
          const ready = this.#items[0]?.ready
          if (ready === undefined) await this.#send()
          else await ready.catch((error: unknown) => this.#fail(0, error))
        }
      }
    } finally {
      this.#running = undefined
    }
  }

  /** Items from the front that go out together: ready ones, as many as a batch holds, never part of one. */
  #group(): PendingAppend[] {
    const most = this.#host.storage.capabilities.maxBatchBytes
    let bytes = 0
    let count = 0
    for (const item of this.#items) {
      for (const entry of item.entries) bytes += 3 * (entry.stored.before.length + entry.stored.after.length) + 64
      const waits = item.ready !== undefined
      if (count > 0 && (waits || (bytes > most && !item.waited))) break
      count++
    }
    return this.#items.slice(0, count)
  }

  async #send(): Promise<void> {
    const host = this.#host
    let group = this.#group()
    if (!surelyFits(host, group)) {
      await countBytes(host)
      group = this.#group()
      const room = admit(host, group)
      if (room.refused !== undefined) this.#fail(room.fits, room.refused)
      group = group.slice(0, room.fits)
    }
    if (group.length === 0) return
    const { state } = host
    const entries = group.flatMap((item) => item.entries)
    const lines = entries.map((entry, index) => storedLine(entry, state.acked + index, (id) => state.log.find(id)))
    if (state.head === undefined) lines.unshift(encodeHeader(state.header))
    for (const item of group) item.sent = true
    const info = host.infoText(entries.length)
    const options = { expect: state.head ?? (0 as const), ...(info === undefined ? {} : { info }) }
    for (let attempt = 1; ; attempt++) {
      try {
        const head = await host.storage.append(host.id, lines, options)
        this.#commit(group.length, entries.length, head, upperBound(lines))
        return
      } catch (error) {
        if (hasCode(error, "unavailable") && attempt < TRIES) {
          await backoff(attempt)
          continue
        }
        if (hasCode(error, "indeterminate") || hasCode(error, "conflict")) {
          this.#uncertain = group.length
          this.#doubt ||= hasCode(error, "indeterminate")
        } else {
          for (const item of group) item.sent = false
          this.#fail(0, error)
        }
        return
      }
    }
  }

  /** Finds out what of the uncertain items is in the log. False: that cannot be learned now. */
  async #settle(): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#reconcile()
        return true
      } catch (error) {
        if (attempt < TRIES && hasCode(error, "unavailable")) {
          await backoff(attempt)
          continue
        }
        const unknown = this.#items.slice(0, this.#uncertain)
        // What was queued behind has not been sent, so it certainly failed; what was sent stays until its fate is known.
        this.#fail(this.#uncertain, error)
        for (const item of unknown) item.reject(unknownFate(this.#host, error))
        return false
      }
    }
  }

  async #reconcile(): Promise<void> {
    const { id, storage, state } = this.#host
    const head = await storage.head(id)
    if (head === undefined || (state.head !== undefined && head.log !== state.head.log)) return this.#meetOther(head)
    const lines = await readLines(storage, id, { from: state.head === undefined ? 0 : state.acked })
    if (state.head === undefined && lines[0] !== encodeHeader(state.header)) {
      this.#certain()
      this.#fail(0, taken(this.#host), { waited: true })
      return
    }
    if (state.head === undefined) lines.shift()
    const from = state.acked
    const slots = lines.map((line, index) => parseSlot(line, from + index, () => undefined))
    const { own, foreign } = sortArrived(slots, this.#items)
    if (slots.length === 0 && state.head !== undefined) return this.#resend()
    this.#certain()
    this.#absorb(slots, own, { next: from + slots.length, log: head.log }, foreign)
    state.bytesAtMost = Math.max(state.bytesAtMost, head.bytes)
  }

  /** Nothing new stands in the log: the same bytes go out again, so that a straggler meets itself. */
  #resend(): void {
    if (++this.#refusals < TRIES) {
      this.#uncertain = 0
      return
    }
    this.#refusals = 0
    const { id, storage } = this.#host
    const message = `${storage.description} keeps refusing appends to ${id} although its log has not changed.`
    const error = new StorageError("conflict", message, { session: id, storage: storage.description })
    if (this.#doubt) throw error
    this.#uncertain = 0
    this.#fail(0, error)
  }

  #certain(): void {
    this.#uncertain = 0
    this.#doubt = false
    this.#refusals = 0
  }

  /** Takes new lines into memory, settles own ones, and decides what becomes of the rest. */
  #absorb(
    slots: Parameters<SessionState["absorb"]>[0],
    own: ReadonlySet<string>,
    head: Head,
    foreign: readonly Entry[],
  ): void {
    const { state } = this.#host
    const from = state.acked
    for (const item of this.#items) item.entries = item.entries.filter((entry) => !own.has(entry.id))
    const landed = this.#items.filter((item) => item.entries.length === 0)
    this.#items = this.#items.filter((item) => item.entries.length > 0)
    const lastOwn = slots.findLast((slot) => slot !== undefined && own.has(slot.id))
    if (lastOwn !== undefined) state.ackedLeafId = lastOwn.id
    state.absorb(slots, head, this.#pendingEntries())
    for (const item of this.#items) item.sent = false
    for (const item of landed) item.resolve(resultOf(item, head))
    const ownSeqs = slots.flatMap((slot, index) => (slot !== undefined && own.has(slot.id) ? [from + index] : []))
    if (ownSeqs.length > 0) this.#host.acknowledged(ownSeqs, head)
    if (foreign.length > 0) this.#host.foreign(foreign)
    this.#resolveConflict(foreign)
  }

  #resolveConflict(foreign: readonly Entry[]): void {
    const { state } = this.#host
    const otherLeaf = foreign.at(-1)?.id
    if (otherLeaf === undefined) return
    const { refuseFrom, adoptLeaf, diverged } = decide(this.#items, foreign)
    if (adoptLeaf) state.ackedLeafId = otherLeaf
    if (refuseFrom < this.#items.length) this.#fail(refuseFrom, otherWriter(this.#host))
    if (adoptLeaf && this.#items.length > 0) {
      rehang(this.#items, otherLeaf)
      state.replacePending(this.#pendingEntries())
      state.leafId = this.#pendingEntries().at(-1)?.id ?? otherLeaf
    }
    if (!diverged || state.leafId === null) return
    const divergence = { leaf: state.leafId, otherLeaf }
    for (const item of this.#items) item.diverged ??= divergence
    this.#host.diverged(divergence.leaf, divergence.otherLeaf)
  }

  async #meetOther(head: HeadInfo | undefined): Promise<void> {
    const { state } = this.#host
    // A session that is not there yet: its creation did not arrive, and may be sent again.
    if (head === undefined && state.head === undefined) {
      return this.#resend()
    }
    const known = head !== undefined && (await this.#host.reload(head))
    this.#certain()
    if (!known) return this.#fail(0, gone(this.#host), { waited: true })
    for (const item of this.#items) {
      item.entries = item.entries.filter((entry) => state.log.find(entry.id) === undefined)
      item.sent = false
    }
    const current = state.head as Head
    for (const item of this.#items.filter((one) => one.entries.length === 0)) item.resolve(resultOf(item, current))
    this.#items = this.#items.filter((item) => item.entries.length > 0)
    state.replacePending(this.#pendingEntries())
    state.leafId = this.#pendingEntries().at(-1)?.id ?? state.ackedLeafId
  }

  #commit(items: number, entries: number, head: Head, bytes: number): void {
    const { state } = this.#host
    const done = this.#items.splice(0, items)
    const from = state.acked
    this.#certain()
    state.ackedLeafId = done.at(-1)?.entries.at(-1)?.id ?? state.ackedLeafId
    state.acknowledge(entries, head, bytes)
    let next = from
    for (const item of done) {
      next += item.entries.length
      item.resolve(resultOf(item, { next, log: head.log }))
    }
    this.#host.acknowledged(
      Array.from({ length: entries }, (_, index) => from + index),
      head,
    )
  }

  /**
   * Items from `index` on certainly failed: they leave memory, since each hangs on the one before it. Those that waited for the
   * session's creation were acknowledged as not durable; they stay and are written with the next try.
   */
  #fail(index: number, error: unknown, o: { readonly waited: boolean } = { waited: false }): void {
    const first = this.#items.findIndex((item, at) => at >= index && (o.waited || !item.waited))
    if (first < 0) return
    const failed = this.#items.splice(first)
    this.#uncertain = Math.min(this.#uncertain, first)
    const kept = this.#pendingEntries()
    const { state } = this.#host
    state.dropPending(kept.length, kept.at(-1)?.id ?? state.ackedLeafId)
    for (const item of failed) item.reject(error)
    if (state.head === undefined) this.#host.waitAgain(this.#items.splice(0))
    this.#host.rolledBack(
      failed.flatMap((item) => item.entries.map((entry) => entry.id)),
      error,
    )
  }

  #pendingEntries(): PendingEntry[] {
    return this.#items.flatMap((item) => item.entries)
  }
}

function resultOf(item: PendingAppend, head: Head): Parameters<PendingAppend["resolve"]>[0] {
  return { ids: item.ids, head, durable: true, ...(item.diverged === undefined ? {} : { diverged: item.diverged }) }
}

function upperBound(lines: readonly string[]): number {
  let units = 0
  for (const line of lines) units += line.length + 1
  return units * 3
}

function place(host: QueueHost): { session: string; storage: string } {
  return { session: host.id, storage: host.storage.description }
}

function taken(host: QueueHost): SessionError {
  return new SessionError(
    "exists",
    `There is a session ${host.id} in ${host.storage.description} already.`,
    place(host),
  )
}

function gone(host: QueueHost): SessionError {
  const message = `The session ${host.id} was deleted, or deleted and made anew, while it was open; nothing was written to what is there now.`
  return new SessionError("not_found", message, place(host))
}

function otherWriter(host: QueueHost): SessionError {
  const message = `Another writer has continued ${host.id}; nothing was written. Read the context again and decide.`
  return new SessionError("conflict", message, place(host))
}

function unknownFate(host: QueueHost, cause: unknown): StorageError {
  const message = `Nobody can say yet whether the append to ${host.id} arrived: ${host.storage.description} is out of reach. The next append or flush finds out.`
  return new StorageError("indeterminate", message, { ...place(host), cause })
}
