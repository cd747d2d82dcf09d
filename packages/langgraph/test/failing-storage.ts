/** A storage of which one call fails: before it takes effect, or, if it writes, also after that. */
import { type SessionStorage, StorageError } from "@sessions/core/storage"

export interface FailingStorage {
  readonly storage: SessionStorage
  /** Counts calls anew; the nth fails. A write counts twice, as its request and its answer. 0: none fails. */
  failAt(n: number): void
  /** Whether a call has failed since. */
  readonly hasFailed: () => boolean
}

export function createFailingStorage(inner: SessionStorage): FailingStorage {
  let calls = 0
  let failing = 0
  const request = (): void => {
    if (++calls === failing) throw new StorageError("unavailable", "The storage does not answer.")
  }
  const answered = <T>(result: T): T => {
    if (++calls === failing) throw new StorageError("indeterminate", "The answer was lost.")
    return result
  }
  const { blobs } = inner
  const replace = inner.replace?.bind(inner)
  return {
    storage: {
      ...inner,
      append: async (...args) => (request(), answered(await inner.append(...args))),
      head: async (...args) => (request(), inner.head(...args)),
      async *read(...args) {
        request()
        yield* inner.read(...args)
      },
      blobs: {
        ...blobs,
        put: async (...args) => (request(), answered(await blobs.put(...args))),
        get: async (...args) => (request(), blobs.get(...args)),
      },
      ...(replace !== undefined && {
        replace: async (...args) => (request(), answered(await replace(...args))),
      }),
    },
    failAt(n) {
      calls = 0
      failing = n
    },
    hasFailed: () => failing > 0 && calls >= failing,
  }
}

/** Calls again while the error is that of the failing call. */
export async function repeated<T>({ hasFailed }: FailingStorage, call: () => Promise<T>): Promise<T> {
  for (;;) {
    const had = hasFailed()
    try {
      return await call()
    } catch (error) {
      if (had || !(error instanceof StorageError)) throw error
    }
  }
}
