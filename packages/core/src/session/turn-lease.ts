/**
 * Turns with a lease: of these, one at a time runs on a session, in whatever process. The document `sessions/<id>/turn` says which. Its
 * holder writes it again while the turn runs; another turn takes it over when it has seen one state of it for a whole lease, by its own
 * monotonic clock. The document cannot stop what an earlier holder has sent already: the fence in the log does that.
 */
import { hasCode, SessionError } from "../format/errors.ts"
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import { isAnything, isObject, oneOf, wholeFrom } from "../format/shape.ts"
import {
  decodeTurn,
  encodeTurn,
  type HeldTurn,
  stateOfTurn,
  type TurnDocument,
  turnKey,
} from "../format/turn-document.ts"
import { backoff } from "../storage/clock.ts"
import type { CallOptions, Doc, SessionStorage } from "../storage/contract.ts"
import { retryUnavailable, TRIES } from "../storage/retry.ts"
import { rejectOnAbort, signalOf } from "../storage/signals.ts"
import { checkAbove, type FencedSession, FencedTurn, highestFence, runFenced } from "./fence.ts"
import { now, sleep } from "./lease-clock.ts"
import { nestedTurnError, turnAborted, type TurnSteps } from "./turn.ts"
import type { TurnOptions } from "./types.ts"

interface LeasableSession extends FencedSession {
  readonly options: FencedSession["options"] & { readonly newId: () => string }
}

interface LeaseOptions extends CallOptions {
  readonly lease: number
  readonly busy: "wait" | "reject"
}

const TURN: OptionChecks<TurnOptions> = { signal: isAnything, lease: isLease, busy: oneOf("wait", "reject") }
/** Turns with a lease count on from a number of the program, so half of the whole numbers are left to them. */
const HELD = { fence: wholeFrom(1, 2 ** 52) }
const isTime = wholeFrom(1_000, 3_600_000)

function isLease(value: unknown): string | undefined {
  return isObject(value) ? undefined : isTime(value)?.replace(/\.$/, ", or { fence }.")
}

/** `Session.turn` with the options of a lease. */
export async function runTurnWithLease<T>(live: LeasableSession, steps: TurnSteps<T>, o: TurnOptions): Promise<T> {
  const about = { session: live.id }
  checkCallOptions("turn", o, TURN, about)
  const { lease, busy = "wait" } = o
  const { turns } = live
  if (lease === undefined) throw new SessionError("invalid", "`busy` is for turns with a `lease`.", about)
  if (typeof lease === "object") checkCallOptions("turn", lease, HELD, about, "lease.")
  if (turns.isInside) throw nestedTurnError(live.id)
  if (busy === "reject" && turns.isHeld) throw busyTurnError(live.id)
  const run = async (): Promise<T> => {
    if (typeof lease === "object") {
      await checkAbove(live, lease.fence, signalOf(o))
      return runFenced(live, new FencedTurn(live.id, lease.fence), steps, o)
    }
    const held = new Lease(live, await taken(live, { ...signalOf(o), lease, busy }))
    try {
      return await runFenced(live, held.turn, steps, o)
    } finally {
      await held.end()
    }
  }
  return turns.run(run, o.signal)
}

interface Taken {
  readonly turn: HeldTurn
  readonly version: string
  /** A time before it was written, by the clock of leases. */
  readonly since: number
}

/** Takes the lease when it is free, or was not renewed in time. */
async function taken(live: LeasableSession, o: LeaseOptions): Promise<Taken> {
  const { lease, busy, signal } = o
  const { id, storage } = live
  const by = live.options.newId()
  const abort = turnAborted(id)
  let seen: { readonly state: string; readonly since: number } | undefined
  let looked = 0
  for (let look = 0; ; look++) {
    const began = now()
    const doc = await rejectOnAbort(
      retryUnavailable(() => storage.docs.get(turnKey(id))),
      signal,
      abort,
    )
    const turn = doc === undefined ? undefined : decodeTurn(doc.text)
    // An answer was lost. The last look did not find it, so it was written since.
    if (isHeld(turn) && turn.held.by === by) return { turn, version: (doc as Doc).version, since: looked }
    looked = began
    if (doc !== undefined && (turn === undefined || isHeld(turn))) {
      const state = turn === undefined ? doc.text : stateOfTurn(turn)
      if (seen?.state !== state) {
        // The writer is alive.
        if (seen !== undefined && busy === "reject") throw busyTurnError(id)
        seen = { state, since: now() }
      }
      if (began - seen.since < (turn?.held.lease ?? lease)) {
        if (busy === "reject" && turn !== undefined && turn.held.asked !== true) {
          await put(storage, id, { ...turn, held: { ...turn.held, asked: true } }, doc.version)
          throw busyTurnError(id)
        }
        await rejectOnAbort(backoff(Math.min(look, MOST_BACKOFF)), signal, abort)
        continue
      }
    }
    const highest = await highestFence(live, signalOf(o))
    const next = { fence: Math.max(turn?.fence ?? 0, highest) + 1, held: { by, lease, count: 0 } }
    const since = now()
    const sent = put(storage, id, next, doc?.version ?? null)
    const version = await rejectOnAbort(sent, signal, abort).catch((error: unknown) => {
      // It may arrive later, and nobody has the lease then.
      sent.then((taken) => taken && put(storage, id, { fence: next.fence }, taken)).catch(() => undefined)
      throw error
    })
    if (version !== undefined) return { turn: next, version, since }
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

class Lease {
  readonly turn: FencedTurn
  readonly #live: LeasableSession
  readonly #ended = new AbortController()
  #document: HeldTurn
  #version: string
  /** When the lease ends unless it is renewed, by the clock of leases. */
  #until: number
  readonly #keeping: Promise<void>

  constructor(live: LeasableSession, { turn, version, since }: Taken) {
    this.#live = live
    this.#document = turn
    this.#version = version
    this.#until = since + turn.held.lease
    this.turn = new FencedTurn(live.id, turn.fence)
    this.#keeping = this.#keep()
  }

  /**
   * Lets the next turn run. Never rejects, and waits no longer than the lease, for a lost one not at all: if that cannot be written, the next turn
   * waits for one lease.
   */
  async end(): Promise<void> {
    const { store } = this.#live
    this.#ended.abort()
    if (!this.turn.isLost) await this.#keeping
    // A session that is not there has no document.
    const write = this.#write(({ fence }) => (store.outdated ? undefined : { fence }))
    const released = write.catch(() => undefined)
    if (!this.turn.isLost) await answeredBy(this.#deadline(now()), released)
  }

  async #keep(): Promise<void> {
    const { lease } = this.#document.held
    let pause = lease / RENEWALS
    for (;;) {
      await sleep(pause, this.#ended.signal)
      if (this.#ended.signal.aborted) return
      const sent = now()
      try {
        // A request may stay open for ever, such as on a network that has gone.
        if ((await answeredBy(this.#deadline(sent), this.#write(renewed))) !== true) return this.turn.lose()
        this.#until = sent + lease
        pause = lease / RENEWALS
      } catch {
        // A storage that does not answer is asked again, until another process may have the lease.
        const left = this.#until - now()
        if (left <= 0) return this.turn.lose()
        pause = Math.min(lease / RENEWALS / RENEWALS, left)
      }
    }
  }

  /** When a request that is sent now must be answered. A process that has stood still goes on if nobody has taken its lease, so it asks. */
  #deadline(sent: number): number {
    return this.#until > sent ? this.#until : sent + this.#document.held.lease / RENEWALS
  }

  /** Changes the document if it is still this turn's; undefined removes it. Returns whether it was. */
  async #write(change: (turn: HeldTurn) => TurnDocument | undefined): Promise<boolean> {
    const { docs } = this.#live.storage
    const key = turnKey(this.#live.id)
    for (let attempt = 1; ; attempt++) {
      const turn = change(this.#document)
      const text = turn && encodeTurn(turn)
      try {
        if (text === undefined) await docs.delete(key, { expect: this.#version })
        else this.#version = await docs.put(key, text, { expect: this.#version })
        if (isHeld(turn)) this.#document = turn
        return true
      } catch (error) {
        const isOpen = hasCode(error, "conflict") || hasCode(error, "indeterminate")
        if (!isOpen || attempt === TRIES) throw error
      }
      // It may have been written, or somebody was turned away since.
      const doc = await docs.get(key)
      const found = doc && decodeTurn(doc.text)
      if (doc === undefined || !isHeld(found) || found.held.by !== this.#document.held.by) return false
      this.#document = found
      this.#version = doc.version
      if (doc.text === text) return true
    }
  }
}

/** Undefined if the work has not ended by a time of the clock of leases; it goes on. */
async function answeredBy<T>(time: number, work: Promise<T>): Promise<T | undefined> {
  const ended = new AbortController()
  const late = sleep(Math.max(0, time - now()), ended.signal).then(() => undefined)
  return Promise.race([work, late]).finally(() => ended.abort())
}

function isHeld(turn: TurnDocument | undefined): turn is HeldTurn {
  return turn?.held !== undefined
}

function renewed({ fence, held: { by, lease, count } }: HeldTurn): HeldTurn {
  return { fence, held: { by, lease, count: count + 1 } }
}

function busyTurnError(session: string): SessionError {
  const message = `Another turn runs on ${session}, so this one was not begun. Begin it when that one has ended, or wait for that with busy: "wait".`
  return new SessionError("conflict", message, { session })
}
