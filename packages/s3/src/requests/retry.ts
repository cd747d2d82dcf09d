/** Retries failed requests with exponential backoff and full jitter, so that writers refused together do not return together. */
import { checkSignal } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { ObjectStoreError, type StoreFailure } from "../object-store/object-store.ts"
import { sendOnce } from "./request.ts"

/** Upper bound of the first pause, in milliseconds. A store that throttles needs more time. */
const FIRST_PAUSE: Readonly<Partial<Record<StoreFailure, number>>> = { slow: 200 }
const DEFAULT_FIRST_PAUSE = 50
const LONGEST_PAUSE = 5_000

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  return error instanceof ObjectStoreError && ["slow", "busy", "network", "server", "foreign"].includes(error.failure)
}

/** The same for a conditional write, after the object that its condition met was read again. */
export function isRetryable(error: unknown): boolean {
  return isTransient(error) || (error instanceof ObjectStoreError && error.failure === "precondition")
}

/**
 * Whether the answer alone proves that a write did not take place. A failed condition proves nothing: a client or proxy that
 * sends a write twice is refused because its first attempt succeeded.
 */
export function provesNotWritten({ certain, failure }: ObjectStoreError): boolean {
  return (
    certain &&
    [
      "denied",
      "credentials",
      "bucket",
      "clock",
      "quota",
      "unreachable",
      "configuration",
      "versioned",
      "redirected",
    ].includes(failure)
  )
}

/** The retries of one call. The requests of a call share it, so that `patience` limits all of them together. */
export interface Backoff {
  /** Pauses before the next attempt. Resolves to false at once if `patience` would be over by then. */
  pause(error: unknown, signal?: AbortSignal): Promise<boolean>
}

export function startBackoff({ settings, time }: Deps): Backoff {
  const end = time.now() + settings.patience
  let tries = 0
  return {
    async pause(error, signal) {
      const failure = error instanceof ObjectStoreError ? error.failure : "busy"
      const longest = Math.min(LONGEST_PAUSE, (FIRST_PAUSE[failure] ?? DEFAULT_FIRST_PAUSE) * 2 ** tries++)
      const ms = time.random() * longest
      if (time.now() + ms >= end) return false
      await time.sleep(ms, signal)
      checkSignal(signal)
      // The machine may have slept meanwhile: a write that is sent long after the first attempt could bring back what was deleted since.
      return time.now() < end
    },
  }
}

/** Retries an idempotent request: reading, listing, deleting, or a PUT under a key that no other writer uses. */
export async function withRetries<T>(
  deps: Deps,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<T>,
  backoff: Backoff = startBackoff(deps),
  timeoutMs?: number,
): Promise<T> {
  for (;;) {
    try {
      return await sendOnce(deps, signal, send, timeoutMs)
    } catch (error) {
      if (!isTransient(error) || !(await backoff.pause(error, signal))) throw error
    }
  }
}
