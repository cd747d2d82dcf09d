/** One turn at a time, and no turn inside a turn. */
import { SessionError } from "../format/errors.ts"
import { StorageError } from "../storage/errors.ts"
import type { RunningTurn } from "../write/types.ts"
import { rejectOnAbort } from "../storage/aborting.ts"

/** What async context says of who is calling. */
interface Scope {
  ended: boolean
}

interface AsyncLocal {
  run<T>(store: Scope, fn: () => T): T
  getStore(): Scope | undefined
}

export class TurnLock {
  #tail: Promise<unknown> = Promise.resolve()
  /** Made for the first turn: most sessions are opened to be read. */
  #scopes: AsyncLocal | undefined
  running: RunningTurn | undefined

  /** Whether the caller stands inside a turn of this lock. Only runtimes with async context can tell after the first `await`. */
  get isInside(): boolean {
    // What a turn leaves behind, such as a timer, is inside of nothing once the turn has ended.
    return this.#scopes?.getStore()?.ended === false
  }

  /** Runs when every turn before it has ended. */
  async run<T>(fn: () => Promise<T>, session: string, signal?: AbortSignal): Promise<T> {
    if (this.isInside) throw nestedTurn(session)
    const scopes = (this.#scopes ??= createScopes())
    const before = this.#tail
    let done = (): void => undefined
    const ended = new Promise<void>((resolve) => (done = resolve))
    this.#tail = before.then(() => ended)
    const scope: Scope = { ended: false }
    try {
      // The place does not move up for that.
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
  const message = `A turn was started inside a turn of ${session}. Append to the session that the turn was given, or let the first turn end.`
  return new SessionError("invalid", message, { session })
}

export function turnAborted(session: string, signal: AbortSignal): StorageError {
  return new StorageError("aborted", abortedMessage(session), { session, cause: signal.reason })
}

function abortedMessage(session: string): string {
  return `The turn on ${session} was aborted before it began.`
}

/** Node, Bun and Deno have async context behind this call; browsers do not yet. There, the handle a turn is given refuses. */
function createScopes(): AsyncLocal | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as
    | { AsyncLocalStorage?: new () => AsyncLocal }
    | undefined
  return hooks?.AsyncLocalStorage === undefined ? undefined : new hooks.AsyncLocalStorage()
}
