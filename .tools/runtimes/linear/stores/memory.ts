/** Memory: clients in this process. A kill takes a client's answers away; its calls go on. */
import { createMemoryLocation, createMemoryStorage } from "../../../../packages/memory/src/index.ts"
import { createDice } from "../../../../packages/core/test/dice.ts"
import { withDefect } from "../client/planted.ts"
import type { Reports } from "../client/plan.ts"
import { readStored, runClient } from "../client/run.ts"
import type { Store } from "./store.ts"

export async function openStore(): Promise<Store> {
  return {
    atomicBatch: "all",
    async open() {
      const location = createMemoryLocation()
      return {
        start(without, recording, begun) {
          const plan = { ...without, place: location }
          const { defect, name, seed } = plan
          const real = createMemoryStorage({ location })
          const storage = defect === undefined ? real : withDefect(defect, real, createDice(seed))
          let isKilled = false
          const reports: Reports = {
            async begin(n, call) {
              recording.begin(name, n, call, performance.now())
              if (!isKilled) begun()
              // Nothing else of a call in memory waits for the event loop.
              await new Promise((resolve) => setImmediate(resolve))
            },
            end(n, answer, at) {
              if (!isKilled) recording.end(name, n, answer, at)
            },
          }
          return {
            ended: runClient(storage, plan, reports, () => performance.now()),
            kill() {
              isKilled = true
            },
          }
        },
        settle: async () => undefined,
        readStored: (plan) => readStored(createMemoryStorage({ location }), { ...plan, place: location }),
        remove: async () => undefined,
      }
    },
    close: async () => undefined,
  }
}
