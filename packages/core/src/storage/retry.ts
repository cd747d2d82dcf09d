/** Trying again. */
import { hasStorageCode } from "./errors.ts"
import { backoff } from "./clock.ts"

/** How often a storage is asked that is `unavailable`, or that answers what cannot be. */
export const TRIES = 3

/** Does it again where the storage was out of reach: the one code that asks for it. */
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
