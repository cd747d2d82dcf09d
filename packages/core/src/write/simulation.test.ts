import { expect, test, vi } from "vitest"
import { brokenRules } from "../../test/oracle.ts"
import { seed } from "../../test/property.ts"
import { clock, doors, simulate } from "../../test/simulation.ts"
import type * as Clock from "../storage/clock.ts"
import type * as Rooms from "../session/rooms.ts"

vi.mock("../clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: () => clock.pause(),
}))

vi.mock("../rooms/rooms.ts", async (original) => {
  const rooms = await original<typeof Rooms>()
  const { rest } = rooms
  return {
    ...rooms,
    rest: {
      get now() {
        return doors.isInside ? rest.now : undefined
      },
      async load() {
        if (!doors.isInside) await doors.enter()
        return rest.load()
      },
      prefetch: () => undefined,
    } satisfies typeof rest,
  }
})

/** More of them: `FC_RUNS=20000`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 300)
const STEPS = 300

test(`writers, a failing storage and code that cannot always be loaded keep every rule, in ${RUNS} runs`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++) {
    const broken = await brokenRules(await simulate(seed + run, STEPS))
    expect(broken, `SEED=${seed + run} FC_RUNS=1`).toEqual([])
  }
}, 3_600_000)
