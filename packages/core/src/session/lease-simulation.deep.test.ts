import { expect, test, vi } from "vitest"
import { runs } from "../../../../.config/runs.ts"
import { clock, present, simulate } from "../../test/lease-simulation.ts"
import { VARIANTS } from "../../test/lease-variants.ts"
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

const RUNS = runs(2_500)
/** Most histories break no rule; the search ends with the first that does. */
const MOST = 2_500

test(`turns with leases are one after the other, and each has read those before it, in ${RUNS} histories`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) expect(await simulate(seed + run), `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)

test.each(Object.entries(VARIANTS))(
  "without the rule that %s, a history breaks a law",
  async (_, { variant, found }) => {
    for (let run = 0; run < MOST; run++) {
      const wrong = await simulate(seed + run, variant)
      if (wrong.some((text) => found.test(text))) return
    }
    expect.unreachable(`No law was broken in ${MOST} histories.`)
  },
  0,
)
