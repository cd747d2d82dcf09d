/**
 * Serializes the writes of one storage object to a session: two of its own would only refuse each other. Aborting withdraws a
 * write that has not been sent. Once it has been sent, aborting only rejects the caller's promise: the write finishes before the
 * next one starts.
 */
import { checkSignal, onAbort, StorageError } from "@sessions/core/storage"
import { abortedError } from "../requests/request.ts"

export interface WriteLock {
  /** For requests before the write: fires when the write is withdrawn. */
  readonly signal: AbortSignal
  /** To be called right before the write is sent. Throws if it was withdrawn; from then on it cannot be withdrawn. */
  send(): void
}

export interface WriteLocks {
  /** Runs `work` after all earlier writes to the session. */
  run<T>(session: string, signal: AbortSignal | undefined, work: (lock: WriteLock) => Promise<T>): Promise<T>
  /** Resolves when all writes have finished. */
  idle(): Promise<void>
}

export function createWriteLocks(): WriteLocks {
  const last = new Map<string, Promise<void>>()
  return {
    run(session, signal, work) {
      const controller = new AbortController()
      let sent = false
      const lock: WriteLock = {
        signal: controller.signal,
        send() {
          checkSignal(signal)
          sent = true
        },
      }
      const running = (last.get(session) ?? Promise.resolve()).then(() => {
        checkSignal(signal)
        return work(lock)
      })
      const finished: Promise<void> = running.then(ignore, ignore).then(() => {
        if (last.get(session) === finished) last.delete(session)
      })
      last.set(session, finished)
      if (signal === undefined) return running
      const aborted = new Promise<never>((_, reject) => {
        const abort = (): void => {
          if (!sent) controller.abort(signal.reason)
          reject(sent ? abortedAfterSendingError(signal) : abortedError(signal))
        }
        void finished.then(onAbort(signal, abort))
      })
      return Promise.race([running, aborted])
    },
    async idle() {
      await Promise.all(last.values())
    },
  }
}

function abortedAfterSendingError(signal: AbortSignal): StorageError {
  const message = "The call was aborted after the write had been sent, so it may still take place. Read the log again."
  return new StorageError("aborted", message, { sent: true, cause: signal.reason })
}

function ignore(): void {
  // The caller's promise has the result.
}
