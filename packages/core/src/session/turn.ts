/**
 * The turns of a session: the lock that runs one turn at a time and rejects a turn inside a turn, and the loop that runs a turn again on
 * the new leaf if another writer appended first.
 */
import { SessionError } from "../format/errors.ts"
import { rejectOnAbort } from "../storage/aborting.ts"
import type { CallOptions } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import type { RunningTurn } from "../write/types.ts"
import type { ReadableSession } from "./live.ts"
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
  #tail: Promise<unknown> = Promise.resolve()
  /** Created for the first turn, because most sessions are only read. */
  #scopes: AsyncLocal | undefined
  running: RunningTurn | undefined

  /** Whether the caller runs inside a turn of this lock. Known only in runtimes with async context. */
  get isInside(): boolean {
    // A timer that outlives its turn is not inside it.
    return this.#scopes?.getStore()?.ended === false
  }

  /** Runs `fn` when all earlier turns have ended. */
  async run<T>(fn: () => Promise<T>, session: string, signal?: AbortSignal): Promise<T> {
    if (this.isInside) throw nestedTurn(session)
    const scopes = (this.#scopes ??= createScopes())
    const before = this.#tail
    let done = (): void => undefined
    const ended = new Promise<void>((resolve) => (done = resolve))
    this.#tail = before.then(() => ended)
    const scope: Scope = { ended: false }
    try {
      // An aborted turn keeps its position in the queue: the next one still waits for the turn before it.
      const toError = (cause: unknown): StorageError =>
        new StorageError("aborted", abortedMessage(session), { session, cause })
      await rejectOnAbort(before, signal, toError)
      return await (scopes === undefined ? fn() : scopes.run(scope, fn))
    } finally {
      scope.ended = true
      done()
    }
  }
}

export function nestedTurn(session: string): SessionError {
  const message = `A turn was started inside a turn of ${session}. Append to the session that the turn's function receives, or await the first turn.`
  return new SessionError("invalid", message, { session })
}

export function turnAborted(session: string, signal: AbortSignal): StorageError {
  return new StorageError("aborted", abortedMessage(session), { session, cause: signal.reason })
}

function abortedMessage(session: string): string {
  return `The turn on ${session} was aborted before it began.`
}

/** Async context exists in Node, Bun and Deno, not in browsers; there, only the handle of a turn rejects a nested turn. */
function createScopes(): AsyncLocal | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as
    | { AsyncLocalStorage?: new () => AsyncLocal }
    | undefined
  return hooks?.AsyncLocalStorage === undefined ? undefined : new hooks.AsyncLocalStorage()
}

/** How often a turn runs again before it rejects with `conflict`. */
const RETRIES = 3

/** `between` runs before each attempt of the function, and after the last one unless it has thrown. */
export function runTurn<T>(
  live: ReadableSession & { readonly turns: TurnLock },
  fn: (turn: TurnContext) => Promise<T> | T,
  o: CallOptions,
  between?: () => Promise<void>,
): Promise<T> {
  const { turns } = live
  const run = async (): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      if (o.signal?.aborted !== true) await between?.()
      if (o.signal?.aborted === true) throw turnAborted(live.id, o.signal)
      const running: RunningTurn = { phase: "unopened", stale: false, conflicted: false }
      turns.running = running
      const outcome = await settle(async () => fn({ attempt }))
      turns.running = undefined
      // An append that the turn did not await may still conflict.
      await live.drain().catch(() => undefined)
      if (!running.conflicted) {
        if (outcome.failed) throw outcome.error
        await between?.()
        return outcome.value
      }
      if (attempt === RETRIES) throw tooManyConflicts(live.id)
    }
  }
  return turns.run(run, live.id, o.signal)
}

type Outcome<T> = { readonly failed: false; readonly value: T } | { readonly failed: true; readonly error: unknown }

async function settle<T>(fn: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { failed: false, value: await fn() }
  } catch (error) {
    return { failed: true, error }
  }
}

function tooManyConflicts(session: string): SessionError {
  const message = `Other writers appended to ${session} during each of ${RETRIES + 1} attempts of this turn; nothing of it was written.`
  return new SessionError("conflict", message, { session })
}
