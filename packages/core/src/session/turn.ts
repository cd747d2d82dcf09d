/** Runs one agent turn. If another writer appended first, the turn runs again on the new leaf. */
import { SessionError } from "../format/errors.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { LiveSession } from "./live-session.ts"
import { turnAborted } from "./turn-lock.ts"
import type { RunningTurn } from "../write/types.ts"
import type { TurnContext } from "./types.ts"

/** How often a turn runs again before it rejects with `conflict`. */
const RETRIES = 3

/** `between` runs before each attempt of the function, and after the last one unless it has thrown. */
export function runTurn<T>(
  live: LiveSession,
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
