/** A store as the network shows it: requests and answers are lost or late, bodies stop, the store complains. */
import type { ObjectStore, StoreFailure } from "../../src/index.ts"
import { ObjectStoreError } from "../../src/index.ts"
import type { FakeBucket } from "../fake-bucket.ts"
import type { StoreFault } from "../fake-store.ts"
import { createFakeStore, inPieces } from "../fake-store.ts"
import type { Clock } from "./clock.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface Weather {
  /** How likely a request fares badly. */
  risk: number
  /** Requests that may still take effect although nobody waits for them. */
  late: number
}

export function createStormyStore(bucket: FakeBucket, clock: Clock, dice: Dice, weather: Weather): ObjectStore {
  const store = createFakeStore(bucket)
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.at(ms, resolve))
  const latency = (): number => (dice.chance(0.05) ? 200 + dice.below(600) : 1 + dice.below(30))

  /** Nobody hears of it: an error at once, or silence until the caller has had enough. */
  const silence = async (signal: AbortSignal | undefined): Promise<never> => {
    if (dice.chance(0.5)) await wait(latency())
    else await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()))
    throw failed("network", false)
  }

  const later = (ms: number, what: () => unknown): void => {
    weather.late++
    clock.at(ms, () => {
      weather.late--
      try {
        what()
      } catch (error) {
        // Its condition does not hold any more, as it should be.
        if (!(error instanceof ObjectStoreError)) throw error
      }
    })
  }

  const fates: Readonly<Record<string, StoreFault>> = {
    "request lost": (_call, _proceed, signal) => silence(signal),
    "answer lost": async (_call, proceed, signal) => {
      await wait(latency())
      attempt(proceed)
      return silence(signal)
    },
    late: (_call, proceed, signal) => {
      later(dice.below(dice.chance(0.5) ? 2_000 : 60_000), proceed)
      return silence(signal)
    },
    // A client or a proxy whose first try lost its answer, and whose second met what the first had done.
    repeated: async (_call, proceed) => {
      await wait(latency())
      attempt(proceed)
      await wait(latency())
      return proceed()
    },
    "failed, done": async (_call, proceed) => {
      await wait(latency())
      attempt(proceed)
      throw failed("server", false)
    },
    "failed, not done": () => refuse("server", false),
    busy: () => refuse("busy", true),
    slow: () => refuse("slow", true),
  }

  async function refuse(failure: StoreFailure, certain: boolean): Promise<never> {
    await wait(latency())
    throw failed(failure, certain)
  }

  store.fault = async (call, proceed, signal) => {
    if (dice.chance(weather.risk)) return (fates[dice.pick(Object.keys(fates))] as StoreFault)(call, proceed, signal)
    await wait(latency())
    const result = proceed()
    await wait(latency())
    return result
  }

  store.body = async function* (bytes) {
    if (!dice.chance(weather.risk)) return yield* inPieces(bytes)
    for await (const piece of inPieces(bytes, 1 + dice.below(400))) {
      await wait(latency())
      yield piece
      if (dice.chance(0.3)) throw failed("network", false)
      // Nothing comes any more.
      if (dice.chance(0.1)) await new Promise(() => undefined)
    }
  }
  return store
}

function attempt(what: () => unknown): void {
  try {
    what()
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error
  }
}

function failed(failure: StoreFailure, certain: boolean): ObjectStoreError {
  return new ObjectStoreError(failure, `simulated ${failure}`, { certain })
}
