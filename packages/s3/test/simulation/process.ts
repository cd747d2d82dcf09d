/** A process of the simulation, on a machine of its own: it may die between two requests, and its clock may jump. */
import { hasStorageCode } from "@sessions/core/storage"
import type { ObjectStore, Time } from "../../src/index.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface Process<S> {
  readonly storage: S
  /** From now on nothing in the process goes on. Requests that it has sent may still take effect. */
  readonly kill: () => void
}

export function startProcess<S>(
  open: (store: ObjectStore, time: Time) => S,
  store: ObjectStore,
  time: Time,
  dice: Dice,
  o: { readonly clockJumps: boolean },
): Process<S> {
  let dead = false
  let jumped = 0
  const whileAlive = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } finally {
      if (dead) await new Promise<never>(() => undefined)
    }
  }
  const mortalStore: ObjectStore = {
    get: (key, options) => whileAlive(store.get(key, options)),
    put: (key, bytes, options) => whileAlive(store.put(key, bytes, options)),
    head: (key, options) => whileAlive(store.head(key, options)),
    list: (prefix, options) => whileAlive(store.list(prefix, options)),
    delete: (key, options) => whileAlive(store.delete(key, options)),
  }
  const mortalTime: Time = {
    ...time,
    // Only forwards, as the adapter's own clock.
    now() {
      if (o.clockJumps && dice.chance(0.02)) jumped += dice.below(600_000)
      return time.now() + jumped
    },
    sleep: (ms, signal) => whileAlive(time.sleep(ms, signal)),
  }
  return { storage: open(mortalStore, mortalTime), kill: () => void (dead = true) }
}

/**
 * A call of a process after all other faults have ended. A clock that jumps ends the patience of a call whose request was slow, so the call
 * may be `unavailable`, and is then repeated; with a clock that does not jump it is not.
 */
export async function withoutFaults<T>(o: { readonly clockJumps: boolean }, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!o.clockJumps || !hasStorageCode(error, "unavailable") || tries === MOST_TRIES) throw error
    }
  }
}

/** In a row so many jumps do not happen. */
const MOST_TRIES = 20
