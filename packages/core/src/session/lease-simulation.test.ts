import { expect, test, vi } from "vitest"
import { clock, present, simulate } from "../../test/lease-simulation.ts"
import { seed } from "../../test/property.ts"
import type * as Clock from "../storage/clock.ts"
import type * as Lease from "./turn-lease.ts"

vi.mock("../storage/clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: () => clock.pause(),
}))
vi.mock("./lease-clock.ts", () => ({
  now: () => clock.now(),
  sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal),
}))
vi.mock("./turn-lease.ts", async (original) => {
  const code = await original<typeof Lease>()
  const runTurnWithLease: typeof code.runTurnWithLease = (live, steps, o) =>
    code.runTurnWithLease((present.live?.(live) ?? live) as typeof live, steps, o)
  return { ...code, runTurnWithLease }
})

/** More of them: `FC_RUNS=2500`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 8)

test(`turns with leases are one after the other, and each has read those before it, in ${RUNS} histories`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) expect(await simulate(seed + run), `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)
