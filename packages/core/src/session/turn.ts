/** One agent turn: starts over on the new leaf where another writer's turn got in first. */
import { SessionError } from "../format/errors.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { LiveSession } from "./live-session.ts"
import { turnAborted } from "./turn-lock.ts"
import type { RunningTurn } from "../write/types.ts"
import type { TurnContext } from "./types.ts"

/** How often a turn starts over before its caller is told. */
const RETRIES = 3

/** `between` runs before the function, each time that it starts over too, and after it where it has not thrown. */
export function runTurn<T>(
  shared: LiveSession,
  fn: (turn: TurnContext) => Promise<T> | T,
  o: CallOptions,
  between?: () => Promise<void>,
): Promise<T> {
  const { turns } = shared
  const run = async (): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      if (o.signal?.aborted !== true) await between?.()
      if (o.signal?.aborted === true) throw turnAborted(shared.id, o.signal)
      const running: RunningTurn = { phase: "unopened", stale: false, conflicted: false }
      turns.running = running
      const outcome = await settle(async () => fn({ attempt }))
      turns.running = undefined
      // An append that the turn did not wait for may still meet the other writer.
      await shared.drain().catch(() => undefined)
      if (!running.conflicted) {
        if (outcome.failed) throw outcome.error
        await between?.()
        return outcome.value
      }
      if (attempt === RETRIES) throw tooManyConflicts(shared.id)
    }
  }
  return turns.run(run, shared.id, o.signal)
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
  const message = `Other writers continued ${session} each time this turn began, ${RETRIES + 1} times in a row; nothing of it was written.`
  return new SessionError("conflict", message, { session })
}
