/**
 * The turns of a session: the lock that runs one turn at a time and rejects a turn inside a turn, and the loop that runs a turn again on
 * the new leaf if another writer appended first.
 */
import { SessionError } from "../format/errors.ts"
import type { StorageError } from "../storage/errors.ts"
import { rejectOnAbort } from "../storage/signals.ts"
import type { CallOptions } from "../storage/contract.ts"
import { toWaitAbortedError } from "../write/errors.ts"
import type { RunningTurn, TurnLease } from "../write/types.ts"
import type { ReadableSession } from "./live-types.ts"
import type { TurnContext } from "./types.ts"

/** The turn of the current async context. */
interface Scope {
  ended: boolean
}

interface AsyncLocal {
  run<T>(store: Scope, fn: () => T): T
  getStore(): Scope | undefined
}

export class TurnLock {
  readonly #session: string
  #tail: Promise<unknown> = Promise.resolve()
  /** Created for the first turn, because most sessions are only read. */
  #scopes: AsyncLocal | undefined
  /** Calls of `run` that have not settled. */
  #calls = 0
  running: RunningTurn | undefined
  /** Lease of the running turn. */
  lease: TurnLease | undefined

  constructor(session: string) {
    this.#session = session
  }

  /** Whether the caller runs inside a turn of this lock. Known only in runtimes with async context. */
  get isInside(): boolean {
    // A timer that outlives its turn is not inside it.
    return this.#scopes?.getStore()?.ended === false
  }

  /**
   * The lease under which the caller appends. `isOfTurn`: through the handle of the running turn. Where no async context tells who calls, every
   * append during a turn is taken for one of it.
   */
  leaseOf(isOfTurn: boolean): TurnLease | null {
    // Asked for each append, and most are in no turn with a lease.
    if (this.lease === undefined) return null
    return isOfTurn || this.#scopes === undefined || this.isInside ? this.lease : null
  }

  /** Whether a turn runs or waits. */
  get isHeld(): boolean {
    return this.#calls > 0
  }

  /** Runs `fn` when all earlier turns have ended. */
  async run<T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.isInside) throw nestedTurnError(this.#session)
    this.#calls++
    const scopes = (this.#scopes ??= createScopes())
    const before = this.#tail
    let done = (): void => undefined
    const ended = new Promise<void>((resolve) => (done = resolve))
    this.#tail = before.then(() => ended)
    const scope: Scope = { ended: false }
    try {
      // An aborted turn keeps its position in the queue: the next one still waits for the turn before it.
      await rejectOnAbort(before, signal, turnAborted(this.#session))
      return await (scopes === undefined ? fn() : scopes.run(scope, fn))
    } finally {
      this.#calls--
      scope.ended = true
      done()
    }
  }
}

/** How often a turn runs again before it rejects with `conflict`. */
const RETRIES = 3

export interface TurnSession extends ReadableSession {
  readonly turns: TurnLock
  followEnd(): void
}

export interface TurnSteps<T> {
  readonly fn: (turn: TurnContext) => Promise<T> | T
  /** Runs before each attempt of the function, and after the last one unless it has thrown. */
  readonly between: () => Promise<void>
  /** Waits for the appends that the function has not awaited. */
  readonly drain: () => Promise<void>
}

/** Runs a turn, whose lock is held. */
export async function runTurn<T>(
  live: TurnSession,
  { fn, between, drain }: TurnSteps<T>,
  { signal }: CallOptions,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    if (signal?.aborted !== true) await between()
    if (signal?.aborted === true) throw turnAborted(live.id)(signal.reason)
    const running: RunningTurn = { phase: "unopened", stale: false, conflicted: false }
    live.turns.running = running
    const [outcome] = await Promise.allSettled([(async () => fn({ attempt }))()])
    live.turns.running = undefined
    // An append that the turn did not await may still conflict.
    await drain()
    live.followEnd()
    if (!running.conflicted) {
      if (outcome.status === "rejected") throw outcome.reason
      await between()
      return outcome.value
    }
    if (attempt === RETRIES) throw tooManyConflictsError(live.id)
  }
}

export function nestedTurnError(session: string): SessionError {
  const message = `A turn is inside a turn of ${session}; append to the turn's own session, or await the first turn.`
  return new SessionError("invalid", message, { session })
}

export function turnAborted(session: string): (reason: unknown) => StorageError {
  return toWaitAbortedError(session, `The turn on ${session} was aborted before it began.`)
}

function tooManyConflictsError(session: string): SessionError {
  const message = `Other writers were first in all ${RETRIES + 1} attempts of this turn; nothing was written.`
  return new SessionError("conflict", message, { session })
}

/** Async context exists in Node, Bun and Deno, not in browsers; there, only the handle of a turn rejects a nested turn. */
function createScopes(): AsyncLocal | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as
    | { AsyncLocalStorage?: new () => AsyncLocal }
    | undefined
  return hooks?.AsyncLocalStorage === undefined ? undefined : new hooks.AsyncLocalStorage()
}
