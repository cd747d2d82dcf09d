/** Retries calls to a storage. */
import { hasStorageCode, type StorageErrorCode } from "./errors.ts"
import { backoff } from "./clock.ts"

/** Attempts at a call whose storage is `unavailable` or returns an impossible answer. */
export const TRIES = 3

/** Repeats the call if the storage was `unavailable`, the one code that asks for it. */
export function retryUnavailable<T>(act: () => Promise<T>): Promise<T> {
  return retryOn("unavailable", TRIES, act, backoff)
}

/** Repeats the call after an error with this code, up to `tries` calls in all. `pause` is awaited before each repetition. */
export async function retryOn<T>(
  code: StorageErrorCode,
  tries: number,
  act: () => Promise<T>,
  pause?: (attempt: number) => Promise<void>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (attempt === tries || !hasStorageCode(error, code)) throw error
      await pause?.(attempt)
    }
  }
}
