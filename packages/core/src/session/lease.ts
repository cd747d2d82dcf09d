/**
 * Turns with a lease: of these, one at a time runs on a session, in whatever process. The document `sessions/<id>/turn` says which. Its
 * holder writes it again while the turn runs; another turn takes it over when it has seen one state of it for a whole lease, by its own
 * monotonic clock. The document cannot stop what an earlier holder has sent already. The log does that: each holder appends its number as a
 * `fence` before it reads its context, and from then on the appends of turns with a lower number are refused.
 */
import type { Entry } from "../format/entry.ts"
import { hasCode, SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import { isAnything, isObject, oneOf, wholeFrom } from "../format/shape.ts"
import { backoff } from "../storage/clock.ts"
import type { CallOptions, Doc, SessionStorage } from "../storage/contract.ts"
import { retryUnavailable, TRIES } from "../storage/retry.ts"
import { rejectOnAbort, signalOf } from "../storage/signals.ts"
import type { AppendResult, TurnLease } from "../write/types.ts"
import { now, sleep } from "./lease-clock.ts"
import {
  decodeTurn,
  encodeTurn,
  type HeldTurn,
  newestFence,
  stateOfTurn,
  type TurnDocument,
  turnKey,
} from "./lease-document.ts"
import { nestedTurn, runTurn, turnAborted, type TurnSession, type TurnSteps } from "./turn.ts"
import type { TurnOptions } from "./types.ts"

interface LeasableSession extends TurnSession {
  readonly options: TurnSession["options"] & { readonly newId: () => string }
  append(entries: readonly NewEntry[], o?: CallOptions): Promise<AppendResult>
}

interface LeaseOptions extends CallOptions {
  readonly lease: number
  readonly busy: "wait" | "reject"
}

const TURN: OptionChecks<TurnOptions> = {
  signal: isAnything,
  lease: wholeFrom(1_000, 3_600_000),
  busy: oneOf("wait", "reject"),
}

/** `Session.turn` with the options of a lease. */
export async function runTurnWithLease<T>(live: LeasableSession, steps: TurnSteps<T>, o: TurnOptions): Promise<T> {
  checkCallOptions("turn", o, TURN, { session: live.id })
  const { lease: ms, busy = "wait" } = o
  const { turns } = live
  if (ms === undefined) throw new SessionError("invalid", "`busy` is for turns with a `lease`.", { session: live.id })
  if (turns.isInside) throw nestedTurn(live.id)
  if (busy === "reject" && turns.isHeld) throw busyTurn(live.id)
  const run = async (): Promise<T> => {
    const lease = await takeLease(live, { ...signalOf(o), lease: ms, busy })
    try {
      return await runTurn(live, stepsWithin(lease, steps), o)
    } finally {
      await lease.end()
    }
  }
  return turns.run(run, o.signal)
}

function stepsWithin<T>(lease: Lease, { fn, between }: TurnSteps<T>): TurnSteps<T> {
  const { fence, signal } = lease
  return {
    fn: async (turn) => {
      if (lease.isLost) throw lease.error()
      try {
        return await fn({ ...turn, fence, signal })
      } catch (error) {
        throw lease.isLost ? lease.error(error) : error
      }
    },
    between: async () => {
      lease.check()
      await between()
    },
  }
}

/**
 * Waits for the lease, and appends its fence: from here on nothing of an earlier holder gets into the log, and this session has read
 * everything that did.
 */
async function takeLease(live: LeasableSession, o: LeaseOptions): Promise<Lease> {
  const lease = new Lease(live, await taken(live, o))
  // What an earlier turn has left would be refused, and the fence behind it.
  await live.drain().catch(() => undefined)
  try {
    await live.append([{ type: "fence", fence: lease.fence }], signalOf(o))
    return lease
  } catch (error) {
    await lease.end()
    throw lease.isLost ? lease.error(error) : error
  }
}

interface Taken {
  readonly turn: HeldTurn
  readonly version: string
  /** When it was sent, by the clock of leases. */
  readonly since: number
}

/** Takes the lease when it is free, or was not renewed in time. */
async function taken(live: LeasableSession, { lease, busy, signal }: LeaseOptions): Promise<Taken> {
  const { id, storage } = live
  const by = live.options.newId()
  const abort = turnAborted(id)
  let seen: { readonly state: string; readonly since: number } | undefined
  let sent: number | undefined
  for (let look = 0; ; look++) {
    const began = now()
    const doc = await rejectOnAbort(
      retryUnavailable(() => storage.docs.get(turnKey(id))),
      signal,
      abort,
    )
    const turn = doc === undefined ? undefined : decodeTurn(doc.text)
    // An answer was lost.
    if (isHeld(turn) && turn.held.by === by) return { turn, version: (doc as Doc).version, since: sent as number }
    if (doc !== undefined && (turn === undefined || isHeld(turn))) {
      const state = turn === undefined ? doc.text : stateOfTurn(turn)
      if (seen?.state !== state) {
        // Whoever writes it is alive.
        if (seen !== undefined && busy === "reject") throw busyTurn(id)
        seen = { state, since: now() }
      }
      if (began - seen.since < (turn?.held.lease ?? lease)) {
        if (busy === "reject" && turn !== undefined && turn.held.asked !== true) {
          await put(storage, id, { ...turn, held: { ...turn.held, asked: true } }, doc.version)
          throw busyTurn(id)
        }
        await rejectOnAbort(backoff(Math.min(look, MOST_BACKOFF)), signal, abort)
        continue
      }
    }
    const next = { fence: (turn?.fence ?? newestFence(live.state.log)) + 1, held: { by, lease, count: 0 } }
    sent ??= now()
    const version = await put(storage, id, next, doc?.version ?? null)
    if (version !== undefined) return { turn: next, version, since: sent }
    await rejectOnAbort(backoff(Math.min(look, MOST_BACKOFF)), signal, abort)
  }
}

/** The longest pause of a turn that waits is 25 ms doubled this often. On S3 each look is a GET. */
const MOST_BACKOFF = 5

/** The new version; undefined if the document is another one by now, or if it is not known whether this was written. */
async function put(
  { docs }: SessionStorage,
  session: string,
  turn: TurnDocument,
  expect: string | null,
): Promise<string | undefined> {
  try {
    return await docs.put(turnKey(session), encodeTurn(turn), { expect })
  } catch (error) {
    if (hasCode(error, "conflict") || hasCode(error, "indeterminate")) return undefined
    throw error
  }
}

/** How often a lease is renewed in its time. */
const RENEWALS = 3

class Lease implements TurnLease {
  readonly fence: number
  isLost = false
  readonly #live: LeasableSession
  readonly #lost = new AbortController()
  readonly #ended = new AbortController()
  /** An append was refused because of the lease. */
  #hasRefused = false
  #turn: HeldTurn
  #version: string
  readonly #keeping: Promise<void>

  constructor(live: LeasableSession, { turn, version, since }: Taken) {
    this.#live = live
    this.#turn = turn
    this.#version = version
    this.fence = turn.fence
    this.#keeping = this.#keep(since)
    live.turns.lease = this
  }

  /** Fires when the lease is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Throws if an append was refused, even if the function did not look at that. */
  check(): void {
    if (this.#hasRefused) throw this.error()
  }

  error(cause?: unknown): SessionError {
    return leaseLost(this.#live.id, cause)
  }

  admit<A extends { readonly inputs: readonly NewEntry[] }>(append: A): A {
    if (!this.isLost) return { ...append, inputs: append.inputs.map((entry) => withFence(entry, this.fence)) }
    this.#hasRefused = true
    throw this.error()
  }

  isEndedBy(foreign: readonly Entry[]): boolean {
    const isEnded = foreign.some((entry) => entry.type === "fence" && entry.fence >= this.fence)
    if (isEnded) this.#lose()
    return isEnded
  }

  refuses(foreign: readonly Entry[]): boolean {
    const isEnded = this.isEndedBy(foreign)
    this.#hasRefused ||= isEnded
    return isEnded
  }

  /** Lets the next turn run. Never rejects: if that cannot be written, it waits for one lease. */
  async end(): Promise<void> {
    const { store, turns } = this.#live
    turns.lease = undefined
    this.#ended.abort()
    if (!this.isLost) await this.#keeping
    if (this.isLost) return
    // A session that is not there has no document.
    await this.#write(({ fence }) => (store.outdated ? undefined : { fence })).catch(() => undefined)
  }

  async #keep(since: number): Promise<void> {
    const { lease } = this.#turn.held
    let until = since + lease
    let pause = lease / RENEWALS
    for (;;) {
      await sleep(pause, this.#ended.signal)
      if (this.#ended.signal.aborted) return
      const sent = now()
      try {
        if (!(await this.#write(renewed))) return this.#lose()
        until = sent + lease
        pause = lease / RENEWALS
      } catch {
        // A storage that does not answer is asked again, until another process may have the lease.
        const left = until - now()
        if (left <= 0) return this.#lose()
        pause = Math.min(lease / RENEWALS / RENEWALS, left)
      }
    }
  }

  /** Changes the document if it is still this turn's; undefined removes it. Returns whether it was. */
  async #write(change: (turn: HeldTurn) => TurnDocument | undefined): Promise<boolean> {
    const { docs } = this.#live.storage
    const key = turnKey(this.#live.id)
    for (let attempt = 1; ; attempt++) {
      const turn = change(this.#turn)
      const text = turn && encodeTurn(turn)
      try {
        if (text === undefined) await docs.delete(key, { expect: this.#version })
        else this.#version = await docs.put(key, text, { expect: this.#version })
        if (isHeld(turn)) this.#turn = turn
        return true
      } catch (error) {
        const isOpen = hasCode(error, "conflict") || hasCode(error, "indeterminate")
        if (!isOpen || attempt === TRIES) throw error
      }
      // It may have been written, or somebody was turned away since.
      const doc = await docs.get(key)
      const found = doc && decodeTurn(doc.text)
      if (doc === undefined || !isHeld(found) || found.held.by !== this.#turn.held.by) return false
      this.#turn = found
      this.#version = doc.version
      if (doc.text === text) return true
    }
  }

  #lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.#lost.abort(leaseLost(this.#live.id))
  }
}

function isHeld(turn: TurnDocument | undefined): turn is HeldTurn {
  return turn?.held !== undefined
}

/** The start of a tool call has the number of its turn. These are not checked yet, so they may be any values. */
function withFence(entry: NewEntry, fence: number): NewEntry {
  return isObject(entry) && entry["type"] === "tool_start" && entry["fence"] === undefined ? { ...entry, fence } : entry
}

function renewed({ fence, held: { by, lease, count } }: HeldTurn): HeldTurn {
  return { fence, held: { by, lease, count: count + 1 } }
}

function busyTurn(session: string): SessionError {
  const message = `Another turn runs on ${session}, so this one was not begun. Begin it when that one has ended, or wait for that with busy: "wait".`
  return new SessionError("conflict", message, { session })
}

function leaseLost(session: string, cause?: unknown): SessionError {
  const message = `This turn has lost the lease of ${session}: another turn runs, or the storage did not answer for a whole lease. What was appended before stays; nothing more of it is written.`
  return new SessionError("conflict", message, { session, ...(cause === undefined ? {} : { cause }) })
}
