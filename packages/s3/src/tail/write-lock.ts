/**
 * One write at a time for each session of a storage object: two of its own would only refuse each other. Before anything was sent
 * a signal withdraws a write; afterwards it only ends the waiting, and the write settles before the next one has its turn.
 */
import { checkSignal, StorageError } from "@sessions/core/storage"
import { abortedError } from "../requests/request.ts"

export interface Turn {
  /** For what comes before the write: fires when the write is withdrawn. */
  readonly signal: AbortSignal
  /** From here on the write may be in the store. Throws where it was withdrawn. */
  send(): void
}

export interface Turns {
  take<T>(session: string, signal: AbortSignal | undefined, work: (turn: Turn) => Promise<T>): Promise<T>
  /** Resolves when all that was begun has settled. */
  settled(): Promise<void>
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<void>>()
  return {
    take(session, signal, work) {
      const controller = new AbortController()
      let sent = false
      const turn: Turn = {
        signal: controller.signal,
        send() {
          checkSignal(signal)
          sent = true
        },
      }
      const run = (last.get(session) ?? Promise.resolve()).then(() => {
        checkSignal(signal)
        return work(turn)
      })
      const settled: Promise<void> = run.then(ignore, ignore).then(() => {
        if (last.get(session) === settled) last.delete(session)
      })
      last.set(session, settled)
      if (signal === undefined) return run
      const aborted = new Promise<never>((_, reject) => {
        const abort = (): void => {
          if (!sent) controller.abort(signal.reason)
          reject(sent ? sentError(signal) : abortedError(signal))
        }
        signal.addEventListener("abort", abort, { once: true })
        void settled.then(() => signal.removeEventListener("abort", abort))
      })
      return Promise.race([run, aborted])
    },
    async settled() {
      await Promise.all(last.values())
    },
  }
}

function sentError(signal: AbortSignal): StorageError {
  const message = "The waiting was aborted after the write had been sent. It settles by itself; look at the log."
  return new StorageError("aborted", message, { sent: true, cause: signal.reason })
}

function ignore(): void {
  // Whoever asked for it hears of it.
}
