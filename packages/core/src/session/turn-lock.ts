/** One turn at a time, and no turn inside a turn. */
import { SessionError } from "../errors.ts"
import { StorageError } from "../storage/errors.ts"

/** The turn that is running: what its appends have met. */
export interface RunningTurn {
  /** Its first append is still to come. */
  first: boolean
  /** Another writer's turn stood where its first append should have gone. */
  conflicted: boolean
}

interface AsyncLocal {
  run<T>(store: object, fn: () => T): T
  getStore(): object | undefined
}

export class TurnLock {
  #tail: Promise<unknown> = Promise.resolve()
  #scope = createScope()
  running: RunningTurn | undefined

  /** Whether the caller stands inside a turn of this lock. Only runtimes with async context can tell after the first `await`. */
  get isInside(): boolean {
    return this.#scope?.getStore() === this
  }

  /** Runs when every turn before it has ended. */
  async run<T>(fn: () => Promise<T>, session: string, signal?: AbortSignal): Promise<T> {
    if (this.isInside) throw nestedTurn(session)
    const before = this.#tail
    let done = (): void => undefined
    this.#tail = new Promise<void>((resolve) => (done = resolve))
    try {
      await before
      if (signal?.aborted === true) {
        const message = `The turn on ${session} was aborted while it waited for its place.`
        throw new StorageError("aborted", message, { session, cause: signal.reason })
      }
      return await (this.#scope === undefined ? fn() : this.#scope.run(this, fn))
    } finally {
      done()
    }
  }
}

export function nestedTurn(session: string): SessionError {
  const message = `A turn was started inside a turn of ${session}. Append to the session that the turn was given, or let the first turn end.`
  return new SessionError("invalid", message, { session })
}

/** Node, Bun and Deno have async context behind this call; browsers do not yet. There, the handle a turn is given refuses. */
function createScope(): AsyncLocal | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as
    | { AsyncLocalStorage?: new () => AsyncLocal }
    | undefined
  return hooks?.AsyncLocalStorage === undefined ? undefined : new hooks.AsyncLocalStorage()
}
