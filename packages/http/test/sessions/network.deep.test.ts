/** Many schedules of calls of a session client whose requests meet other servers. */
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { runSchedules } from "./schedules.ts"

const SCHEDULES = 2_000
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] }),
)
afterEach(() => void vi.useRealTimers())

test(`${SCHEDULES} random schedules of a session client, seed ${SEED}: nothing acknowledged is missing, nothing is done twice`, async () => {
  let faults = 0
  const wrong: string[] = []
  for (let from = 0; from < SCHEDULES; from += 50) {
    const found = await runSchedules(Array.from({ length: 50 }, (_, n) => SEED + from + n))
    wrong.push(...found.wrong)
    faults += found.faults
  }
  expect(wrong).toEqual([])
  console.info(
    `measured: session client on a network: ${SCHEDULES} schedules, ${faults} faults, 0 lost, 0 doubled, 0 wrong codes`,
  )
})
