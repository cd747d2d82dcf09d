/** The calls of one storage object: refused after its disposal, waited for by it, and abandoned by a signal. */
import { checkSignal, StorageError } from "@sessions/core/storage"
import type { Environment } from "./environment.ts"
import { toStorageError } from "./errors.ts"

export interface Calls extends Pick<Environment, "enter" | "call"> {
  readonly closed: () => boolean
  /** Refuses all further calls, says so, and waits for those under way. */
  close(refused: () => void): Promise<void>
}

export function createCalls(storage: string): Calls {
  const pending = new Set<Promise<unknown>>()
  let closed = false

  const enter: Calls["enter"] = (o) => {
    if (closed) throw new StorageError("closed", "This storage was disposed of; make another.", { storage })
    checkSignal(o?.signal)
  }

  return {
    enter,
    closed: () => closed,

    async call({ doing, session, at, writes }, o, work) {
      enter(o)
      const place = { storage, ...(session !== undefined && { session }), ...(at !== undefined && { at }) }
      const running = work().catch((error: unknown) => {
        throw toStorageError(error, doing, place)
      })
      pending.add(running)
      const settled = (): void => void pending.delete(running)
      running.then(settled, settled)
      return o?.signal === undefined ? running : untilSignal(running, o.signal, place, writes === true)
    },

    async close(refused) {
      closed = true
      refused()
      await Promise.allSettled(pending)
    },
  }
}

async function untilSignal<T>(running: Promise<T>, signal: AbortSignal, place: object, sent: boolean): Promise<T> {
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => {
      const message = sent
        ? "The call was aborted after its write had been sent, which settles by itself."
        : "The call was aborted."
      reject(new StorageError("aborted", message, { ...place, ...(sent && { sent }), cause: signal.reason }))
    }
  })
  signal.addEventListener("abort", stop)
  try {
    return await Promise.race([running, aborted])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
