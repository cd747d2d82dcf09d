/** Follows the log of a stream that another process may write, and notices when that process has ended without a word. */
import { type Entry, hasCode, type Session } from "@sessions/core"
import { onAbort } from "@sessions/core/storage"

/** Pauses without a new entry after which the process that generates counts as lost. It writes one in each. */
const MOST_SILENT_PAUSES = 3

/** The silence has lasted too long. */
export const LOST: unique symbol = Symbol("lost")

/**
 * The entries of the log from its start, as they come; {@link LOST} when none has come for three pauses. Ends when the signal fires; the
 * caller ends it when it has seen what it looks for. Rejects with `not_found` if the log is deleted.
 *
 * Pauses are counted, not measured: after a machine has slept, one more has passed, and the process that generates has time to write.
 */
export async function* followEntries(
  session: Session,
  pauseMs: number,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Entry | typeof LOST, void, undefined> {
  const waiting = new Waiting()
  const changed = (): void => waiting.wake()
  const end = new AbortController()
  const offs = [session.on("foreign", changed), session.on("appended", changed), onAbort(signal, changed)]
  let failure: { readonly error: unknown } | undefined
  // It resolves if the session is closed, which the next read says.
  session.follow({ signal: end.signal }).then(changed, (error: unknown) => {
    failure = { error }
    changed()
  })
  try {
    let silent = 0
    for (let from = 0; !signal.aborted; ) {
      const { next } = session.head ?? { next: 0 }
      for await (const entry of session.entries({ from, to: next })) yield entry
      if (next > from) silent = 0
      from = next
      if (failure !== undefined) throw failure.error
      if (signal.aborted || !(await waiting.isOver(pauseMs))) continue
      if (!(await isAnswered(session))) continue
      if (session.head.next > from) continue
      if (++silent === MOST_SILENT_PAUSES) yield LOST
    }
  } finally {
    for (const off of offs) off()
    end.abort()
  }
}

/** Whether the storage answers: only then its silence says something. */
async function isAnswered(session: Session): Promise<boolean> {
  try {
    await session.refresh()
    return true
  } catch (error) {
    if (hasCode(error, "unavailable")) return false
    throw error
  }
}

/** One waits, others wake it. A call before the wait counts. */
class Waiting {
  #isWoken = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  /** Resolves with true after this many milliseconds, and with false if `wake` is called before. */
  async isOver(ms: number): Promise<boolean> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    const isOver = !this.#isWoken
    this.#isWoken = false
    this.#wake = undefined
    return isOver
  }
}
