/** Many schedules of calls whose requests meet other servers. */
import { expect, test } from "vitest"
import { runSchedule } from "./schedules.ts"

const SCHEDULES = 2_000
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

test(`${SCHEDULES} random schedules: nothing acknowledged is missing, nothing refused is there, no code is wrong`, async () => {
  console.info(`SEED=${SEED}`)
  const wrong: string[] = []
  for (let from = 0; from < SCHEDULES; from += 50)
    wrong.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => runSchedule(SEED + from + n)))).flat())
  expect(wrong).toEqual([])
  console.info(`measured: HTTP storage behind another server: ${SCHEDULES} schedules, 0 lost, 0 doubled, 0 wrong codes`)
})
