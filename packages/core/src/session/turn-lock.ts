/** The turn lock of a session: runs one turn at a time, and rejects a turn inside a turn. */
import { SessionError } from "../format/errors.ts"
import { StorageError } from "../storage/errors.ts"
import type { RunningTurn } from "../write/types.ts"
import { rejectOnAbort } from "../storage/aborting.ts"

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
