/** A signal ends the waiting of the one who gave it, not what is waited for. */
import { StorageError } from "../storage/errors.ts"

/** Rejects with `aborted` as soon as the signal fires, whatever becomes of the work. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  about: { readonly session: string; readonly message: string },
): Promise<T> {
  if (signal === undefined) return work
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = (): void =>
      reject(new StorageError("aborted", about.message, { session: about.session, cause: signal.reason }))
    if (signal.aborted) stop()
    else signal.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
