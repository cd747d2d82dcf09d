/** Retries calls to a storage. */
import { hasStorageCode } from "./errors.ts"
import { backoff } from "./clock.ts"

/** Attempts at a call whose storage is `unavailable` or returns an impossible answer. */
export const TRIES = 3

/** Repeats the call if the storage was `unavailable`, the one code that asks for it. */
export async function retryUnavailable<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (attempt === TRIES || !hasStorageCode(error, "unavailable")) throw error
      await backoff(attempt)
    }
  }
}
