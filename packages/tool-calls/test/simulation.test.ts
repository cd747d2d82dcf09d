import { expect, test, vi } from "vitest"
import { seed } from "../../core/test/property.ts"
import type * as Clock from "../../core/src/storage/clock.ts"
import { simulate } from "./simulation.ts"

vi.mock("../../core/src/storage/clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: () => Promise.resolve(),
}))

/** More of them: `FC_RUNS=2500`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 8)

test(`killed processes charge each call once, and a charged call is never told as waiting, in ${RUNS} histories`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) expect(await simulate(seed + run), `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)

test("whoever says wrongly that a call was not made leaves it to a receiver that knows the key", async () => {
  for (let run = 0; run < RUNS / 4; run++)
    expect(await simulate(seed + run, { lies: true }), `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)
