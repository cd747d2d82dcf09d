/**
 * Keeps sessions in memory after their last handle was closed, least recently used first, and brings them up to date with their logs
 * before they are opened again. A session that is needed stays, however many there are. Loaded on first use, by `open-sessions.ts`.
 */
import { hasCode } from "../format/errors.ts"
import type { Entry } from "../format/entry.ts"
import { notFound, readLines } from "../log/loaded-log.ts"
import type { HeadInfo, Seq } from "../storage/contract.ts"
import { isSameLine } from "../storage/head.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { isHeldEnd, toLines } from "../write/resolve-outcome.ts"
import type { ReleaseReason } from "./hooks.ts"
import type { KeepableSession } from "./live.ts"
import { readDefaultLeaf } from "./read-path.ts"
import type { CacheOptions } from "./repository-types.ts"

const IDLE_MS = 30 * 60_000
const SESSIONS = 100
/** The longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1

/** An open session. */
export interface KeptSlot {
  readonly live: KeepableSession | undefined
  readonly handles: number
  /** Lines from here on are synced when the session is closed. */
  from: Seq
}

interface CacheContext<Slot> {
  /** Writes what is pending, and syncs it. */
  readonly flush: (slot: Slot) => Promise<void>
  /** Drops the session from memory, and calls `forget`. */
  readonly drop: (id: string, slot: Slot, why: ReleaseReason) => void
}

interface Kept {
  readonly live: KeepableSession
  /** When its last handle was closed. */
  since: number
  /** It is being brought up to date for callers that open it. */
  checking: Promise<void> | undefined
}

export class SessionCache<Slot extends KeptSlot> {
  readonly #idle: number
  readonly #sessions: number
  readonly #now: () => number
  readonly #context: CacheContext<Slot>
  /** The least recently used first. One that was opened again stays here until it has been idle. */
  readonly #kept = new Map<Slot, Kept>()
  /** For all sessions: fires when the first one has been idle for long enough. */
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    { idle = IDLE_MS, sessions = SESSIONS, now }: CacheOptions & { readonly now: () => number },
    context: CacheContext<Slot>,
  ) {
    this.#idle = idle
    this.#sessions = sessions
    this.#now = now
    this.#context = context
  }

  /** Keeps a session whose last handle was closed. False: it must be opened from its log the next time. */
  keep(slot: Slot): boolean {
    const { live } = slot
    if (live === undefined || !isKeepable(live)) return false
    this.#put(slot, { live, since: 0, checking: undefined })
    const unused = [...this.#kept].filter((one) => !isNeeded(...one))
    for (const one of unused.slice(0, Math.max(0, unused.length - this.#sessions))) this.#drop(...one, "limit")
    this.#arm()
    return true
  }

  /**
   * Brings a session without handles up to date, once for all callers; undefined for one that is in use. If it is kept afterwards, it is as
   * newly opened, or busy. Rejects with `not_found` if it was deleted, and with the errors of reading, after which it is still kept.
   */
  check(slot: Slot): Promise<void> | undefined {
    const kept = this.#kept.get(slot)
    if (kept === undefined || slot.handles > 0) return undefined
    kept.checking ??= this.#check(slot, kept).finally(() => (kept.checking = undefined))
    return kept.checking
  }

  /** Drops the session, or all, if it is not needed; returns how many. */
  async release(id: string | undefined): Promise<number> {
    const found = [...this.#kept].filter(([, { live }]) => id === undefined || live.id === id)
    await Promise.all(found.map(async ([slot, { live }]) => live.isBusy && this.#context.flush(slot).catch(ignore)))
    const unused = found.filter((one) => this.#kept.get(one[0]) === one[1] && !isNeeded(...one))
    for (const one of unused) this.#drop(...one, "released")
    return unused.length
  }

  forget(slot: Slot): void {
    if (!this.#kept.delete(slot) || this.#kept.size > 0) return
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #check(slot: Slot, kept: Kept): Promise<void> {
    const { live } = kept
    const { id, state, storage } = live
    const stored = await retryUnavailable(() => storage.head(id))
    if (live.isBusy) await live.refresh(stored).catch(ignore)
    // It is shared, as with a caller who has it open.
    if (live.isBusy) return
    if (stored === undefined) {
      this.#drop(slot, kept, "deleted")
      throw notFound(storage, id)
    }
    const { acknowledged } = state
    if (!(await takeOver(live, stored))) this.#drop(slot, kept, "replaced")
    slot.from += state.acknowledged - acknowledged
  }

  #put(slot: Slot, kept: Kept): void {
    kept.since = this.#now()
    this.#kept.delete(slot)
    this.#kept.set(slot, kept)
  }

  #drop(slot: Slot, { live }: Kept, why: ReleaseReason): void {
    this.#context.drop(live.id, slot, why)
  }

  #arm(): void {
    const [first] = this.#kept.values()
    if (this.#timer !== undefined || first === undefined) return
    const left = Math.min(this.#idle, LONGEST_MS, first.since + this.#idle - this.#now())
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, left))
    unref(this.#timer)
  }

  #expire(): void {
    this.#timer = undefined
    const now = this.#now()
    // A clock that was set back must not keep sessions for longer.
    const due = [...this.#kept].filter(([, { since }]) => since > now || now - since >= this.#idle)
    for (const [slot, kept] of due) {
      if (slot.handles > 0) this.forget(slot)
      else if (!isNeeded(slot, kept)) this.#drop(slot, kept, "idle")
      else {
        // Nothing else tries again to write an append whose outcome is unknown.
        this.#context.flush(slot).catch(ignore)
        this.#put(slot, kept)
      }
    }
    this.#arm()
  }
}

function isNeeded({ handles }: KeptSlot, { checking, live }: Kept): boolean {
  return handles > 0 || checking !== undefined || live.isBusy
}

/** What is of another version or is damaged is opened from its log, which may have changed. */
function isKeepable(live: KeepableSession): boolean {
  return live.isBusy || (live.writeGuard.kind === "open" && isSound(live))
}

function isSound({ state, diagnostics }: KeepableSession): boolean {
  return !state.hasDamage && diagnostics.every(({ code }) => code === "diverged")
}

/**
 * Reads what other writers appended, and starts the session over at the leaf of its log. False: it must be loaded anew, because its log is
 * another one, is damaged, or has grown by more than opening reads.
 */
async function takeOver(live: KeepableSession, stored: HeadInfo): Promise<boolean> {
  const { state, store } = live
  const { head } = state
  const { next, log } = head
  if (stored.log !== log || stored.next < next || (stored.torn ?? 0) > 0) return false
  // Without a mark only the line itself shows that no older copy was put back.
  const isRead = stored.next > next || stored.mark === undefined
  if (!isRead && !isSameLine(stored, head)) return false
  if (stored.bytes - state.bytes > live.options.readWindow.first) return false
  try {
    if (isRead && !(await readNew(live, stored))) return false
    const leaf = await readDefaultLeaf(state.log, store, state.projection, {})
    startOver(live, leaf === null ? null : (state.log.at(leaf) as Entry).id)
    return isSound(live)
  } catch (error) {
    if (hasCode(error, "conflict")) return false
    throw error
  }
}

/** False: the log does not continue the held lines. */
async function readNew({ id, storage, state }: KeepableSession, head: HeadInfo): Promise<boolean> {
  const from = state.acknowledged
  const [last, ...lines] = await readLines(storage, id, { from: from - 1, to: head.next, log: head.log })
  if (!isHeldEnd(state, last) || lines.length !== head.next - from) return false
  state.applyRemote(toLines(state, lines, from, { head }))
  state.replacePending([])
  return true
}

/** The session is as newly opened. */
function startOver(live: KeepableSession, leafId: string | null): void {
  const { state, diagnostics, compaction } = live
  state.leafId = leafId
  state.acknowledgedLeafId = leafId
  state.sure = state.acknowledged
  state.reported.clear()
  diagnostics.length = 0
  Object.assign(compaction, { failures: 0, unknownModel: undefined, stuck: undefined })
  live.reportTips()
}

/** A timer must not keep a process running that has nothing else to do. */
function unref(timer: unknown): void {
  ;(timer as { unref?: () => void }).unref?.()
}

function ignore(): void {}
