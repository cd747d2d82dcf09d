import { expect, test, vi } from "vitest"
import { clock, present, simulate } from "../../test/lease-simulation.ts"
import { seed } from "../../test/property.ts"
import type * as Clock from "../storage/clock.ts"
import type * as Features from "./features.ts"

vi.mock("../storage/clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: () => clock.pause(),
}))
vi.mock("./lease-clock.ts", () => ({
  now: () => clock.now(),
  sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
}))
vi.mock("./features.ts", async (original) => {
  const features = await original<typeof Features>()
  const transferFeature = async (): Promise<unknown> => {
    const transfer = await features.transferFeature()
    const { runTurnWithLease } = transfer
    type Args = Parameters<typeof runTurnWithLease>
    return {
      ...transfer,
      runTurnWithLease: (live: Args[0], steps: Args[1], o: Args[2]) =>
        runTurnWithLease((present.live?.(live) ?? live) as Args[0], steps, o),
    }
  }
  return { ...features, transferFeature }
})

/** More of them: `FC_RUNS=2500`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 15)

test(`turns with leases are one after the other, and each has read those before it, in ${RUNS} histories`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) expect(await simulate(seed + run), `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)
