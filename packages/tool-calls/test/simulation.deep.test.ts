import { expect, test, vi } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { seed } from "../../core/test/property.ts"
import type * as Clock from "../../core/src/storage/clock.ts"
import { simulate } from "./simulation.ts"
import { VARIANTS } from "./variants.ts"

vi.mock("../../core/src/storage/clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: () => Promise.resolve(),
}))

const RUNS = runs(2_500)
/** Most histories break no rule; the search ends with the first that does. */
const MOST = 2_500

test(`killed processes charge each call once, and a charged call is never told as waiting, in ${RUNS} histories`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) expect(await simulate(seed + run), `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)

test.each(Object.entries(VARIANTS))(
  "without the rule that %s, a history breaks a law",
  async (_, { variant, found }) => {
    for (let run = 0; run < MOST; run++) {
      const wrong = await simulate(seed + run, variant)
      if (wrong.some((text) => text.includes(found))) return
    }
    expect.unreachable(`No law was broken in ${MOST} histories.`)
  },
  0,
)
