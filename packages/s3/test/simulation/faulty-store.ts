/** A store behind an unreliable network: requests and answers are lost, late or repeated, bodies stall, the store throttles. */
import { type ObjectStore, ObjectStoreError, type StoreFailure } from "../../src/index.ts"
import type { FakeBucket } from "../fake-bucket.ts"
import { createFakeStore, inParts, type StoreFault } from "../fake-store.ts"
import type { Clock } from "./clock.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface Network {
  /** Probability that a request or body meets a fault. */
  faultRate: number
  /** Number of requests that may still take effect after their caller has given up. */
  late: number
}

export function createFaultyStore(bucket: FakeBucket, clock: Clock, dice: Dice, network: Network): ObjectStore {
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
