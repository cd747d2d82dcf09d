/** Many schedules of calls of a session client whose requests meet other servers. */
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { rounds } from "../../../../.config/rounds.ts"
import { runSchedules } from "./schedules.ts"

const SCHEDULES = rounds(2_000)
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] }),
)
afterEach(() => void vi.useRealTimers())

const SOME = 250

test.each(Array.from({ length: SCHEDULES / SOME }, (_, n) => SEED + n * SOME))(
  `${SOME} random schedules of a session client, seed %i: nothing acknowledged is missing, nothing is done twice`,
  async (seed) => {
    const { wrong, faults } = await runSchedules(Array.from({ length: SOME }, (_, n) => seed + n))
    expect(wrong).toEqual([])
    console.info(
      `measured: session client on a network: ${SOME} schedules, ${faults} faults, 0 lost, 0 doubled, 0 wrong codes`,
    )
  },
)
