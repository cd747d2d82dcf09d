/** Asking again, with growing pauses of random length so that those who were refused together do not come back together. */
import { checkSignal } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { once } from "./request.ts"
import type { StoreFailure } from "../object-store/object-store.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"

/** The first pause at most, and the longest. S3 wants more time where it says that it is too much for it. */
const FIRST_PAUSE: Readonly<Partial<Record<StoreFailure, number>>> = { slow: 200 }
const ORDINARY_PAUSE = 50
const LONGEST_PAUSE = 5_000

/** Whether the same request may well succeed a moment later. */
export function isPassing(error: unknown): boolean {
  return error instanceof ObjectStoreError && ["slow", "busy", "network", "server"].includes(error.failure)
}

/** The same of a conditional write, once it was looked at what its condition met. */
export function isWorthAnotherTry(error: unknown): boolean {
  return isPassing(error) || (error instanceof ObjectStoreError && error.failure === "precondition")
}

/**
 * Whether an answer proves by itself that a write did not take place. A condition that did not hold proves nothing: whoever sends
 * twice, a client or a proxy, is refused for what its own first try has done.
 */
export function provesNothingDone({ certain, failure }: ObjectStoreError): boolean {
  return certain && ["denied", "credentials", "bucket", "clock", "quota"].includes(failure)
}

/** Pauses between tries, until the patience is at an end. */
export interface Patience {
  /** False, without a pause, where there is no time left for another try. */
  pause(error: unknown, signal?: AbortSignal): Promise<boolean>
}

export function startPatience({ settings, time }: Environment): Patience {
  const end = time.now() + settings.patience
  let tries = 0
  return {
    async pause(error, signal) {
      const failure = error instanceof ObjectStoreError ? error.failure : "busy"
      const longest = Math.min(LONGEST_PAUSE, (FIRST_PAUSE[failure] ?? ORDINARY_PAUSE) * 2 ** tries++)
      const ms = time.random() * longest
      if (time.now() + ms >= end) return false
      await time.sleep(ms, signal)
      checkSignal(signal)
      return true
    },
  }
}

/** A request that may be made twice: reading, listing, deleting, or putting what nobody else puts there. */
export async function persistently<T>(
  env: Environment,
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const patience = startPatience(env)
  for (;;) {
    try {
      return await once(env, signal, act)
    } catch (error) {
      if (!isPassing(error) || !(await patience.pause(error, signal))) throw error
    }
  }
}
