import { expect, test } from "vitest"
import { seed } from "../../core/test/property.ts"
import { closeTabs } from "./closed-tabs.ts"

/** Each tab loads all modules again. */
const ROUNDS = 6

test(`of tabs that are closed in a turn each call is charged once, and the next ones know of it, in ${ROUNDS} rounds`, async () => {
  console.info(`SEED=${seed}`)
  let closed = 0
  for (let round = 0; round < ROUNDS; round++) {
    const result = await closeTabs(seed + round, [1, 2, 1])
    expect(result.wrong, `SEED=${seed + round}`).toEqual([])
    closed += result.closed
  }
  expect(closed).toBeGreaterThan(0)
}, 0)
