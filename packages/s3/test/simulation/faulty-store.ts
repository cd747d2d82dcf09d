/**
 * A store behind an unreliable network: requests and answers are lost, late or repeated, copies arrive after an hour, listings are
 * stale, bodies stall, the store throttles.
 */
import { type ObjectStore, ObjectStoreError, type StoreFailure } from "../../src/index.ts"
import { createFakeStore, inParts, type StoreFault } from "../fake-store.ts"
import type { Clock } from "./clock.ts"
import { STALEST, type SimulatedBucket } from "./simulated-bucket.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface Network {
  /** Probability that a request or body meets a fault. */
  faultRate: number
  /** Number of requests that may still take effect after their caller has given up. */
  late: number
}

/** The longest time after which a request still takes effect, in milliseconds. */
export const LATEST = 3_600_000

export function createFaultyStore(bucket: SimulatedBucket, clock: Clock, dice: Dice, network: Network): ObjectStore {
  const store = createFakeStore(bucket)
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.at(ms, resolve))
  const latency = (): number => (dice.chance(0.05) ? 200 + dice.below(600) : 1 + dice.below(30))

  /** A lost answer: a network error, or silence until the caller gives up. */
  const silence = async (signal: AbortSignal | undefined): Promise<never> => {
    if (dice.chance(0.5)) await wait(latency())
    else await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()))
    throw failed("network", false)
  }

  const performLater = (ms: number, proceed: () => unknown): void => {
    network.late++
    clock.at(ms, () => {
      network.late--
      try {
        proceed()
      } catch (error) {
        // Its condition does not hold any more.
        if (!(error instanceof ObjectStoreError)) throw error
      }
    })
  }

  const faults: Readonly<Record<string, StoreFault>> = {
    "request lost": (_call, _proceed, signal) => silence(signal),
    "answer lost": async (_call, proceed, signal) => {
      await wait(latency())
      attempt(proceed)
      return silence(signal)
    },
    late: (_call, proceed, signal) => {
      performLater(dice.below(dice.chance(0.5) ? 2_000 : 60_000), proceed)
      return silence(signal)
    },
    "very late": (_call, proceed, signal) => {
      performLater(60_000 + dice.below(LATEST - 60_000), proceed)
      return silence(signal)
    },
    "failed, and takes effect later": async (_call, proceed) => {
      await wait(latency())
      performLater(dice.below(600_000), proceed)
      throw failed(dice.pick(["server", "network"]), false)
    },
    // The caller has its answer when another copy of the request arrives.
    "repeated later": async (_call, proceed) => {
      await wait(latency())
      try {
        return proceed()
      } finally {
        performLater(dice.below(dice.chance(0.5) ? 5_000 : 600_000), proceed)
        if (dice.chance(0.3)) performLater(dice.below(LATEST), proceed)
      }
    },
    // A client or proxy repeats a request whose answer was lost, and the second one meets the effect of the first.
    repeated: async (_call, proceed) => {
      await wait(latency())
      attempt(proceed)
      await wait(latency())
      return proceed()
    },
    "failed after taking effect": async (_call, proceed) => {
      await wait(latency())
      attempt(proceed)
      throw failed("server", false)
    },
    "failed before taking effect": () => refuse("server", false),
    busy: () => refuse("busy", true),
    slow: () => refuse("slow", true),
  }

  async function refuse(failure: StoreFailure, certain: boolean): Promise<never> {
    await wait(latency())
    throw failed(failure, certain)
  }

  store.fault = async (call, proceed, signal) => {
    if (dice.chance(network.faultRate))
      return (faults[dice.pick(Object.keys(faults))] as StoreFault)(call, proceed, signal)
    await wait(latency())
    const result = proceed()
    await wait(latency())
    return result
  }

  const list = store.list.bind(store)
  store.list = async (prefix, o = {}) => {
    if (!dice.chance(network.faultRate / 4)) return list(prefix, o)
    await wait(latency())
    return bucket.listAt(clock.now() - dice.below(STALEST), prefix, o.after)
  }

  store.body = async function* (bytes) {
    if (!dice.chance(network.faultRate)) return yield* inParts(bytes)
    for await (const part of inParts(bytes, 1 + dice.below(400))) {
      await wait(latency())
      yield part
      if (dice.chance(0.3)) throw failed("network", false)
      // The body stalls.
      if (dice.chance(0.1)) await new Promise(() => undefined)
    }
  }
  return store
}

function attempt(proceed: () => unknown): void {
  try {
    proceed()
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error
  }
}

function failed(failure: StoreFailure, certain: boolean): ObjectStoreError {
  return new ObjectStoreError(failure, `simulated ${failure}`, { certain })
}
