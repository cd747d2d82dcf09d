import { expect, test, vi } from "vitest"
import { brokenRules } from "../../test/oracle.ts"
import { seed } from "../../test/property.ts"
import { clock, simulate } from "../../test/simulation.ts"
import type * as Clock from "../storage/clock.ts"

vi.mock("../storage/clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: () => clock.pause(),
}))

/** More of them: `FC_RUNS=20000`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 15)
const STEPS = 300

test(`writers on a failing storage keep every rule, in ${RUNS} runs`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) {
    const broken = await brokenRules(await simulate(seed + run, STEPS))
    expect(broken, `SEED=${seed + run} FC_RUNS=1`).toEqual([])
  }
  // No limit, for long runs: the scheduler ends a hang.
}, 0)
