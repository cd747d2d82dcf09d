import { expect, test } from "vitest"
import { DEFECTS, RESET_DEFECTS } from "./client/planted.ts"
import { runRound } from "./round.ts"
import { openStore } from "./stores/memory.ts"

const OPTIONS = { clients: 4, operations: 250, kills: 1, faults: false, resets: false }
const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)

test("a round on a correct storage has appends, conflicts, kills and no violation", async () => {
  const { violations, counts, history } = await runRound(await openStore(), { ...OPTIONS, seed })
  expect(violations, `SEED=${seed}`).toEqual([])
  expect(history.operations).toHaveLength(counts.operations)
  expect(counts.kills).toBe(OPTIONS.clients)
  expect(Math.min(counts.acknowledged, counts.conflicts), JSON.stringify(counts)).toBeGreaterThan(0)
})

test("a round with deletes and replaces on a correct storage has no violation", async () => {
  const { violations, counts } = await runRound(await openStore(), { ...OPTIONS, resets: true, seed })
  expect(violations, `SEED=${seed}`).toEqual([])
  expect(counts.resets).toBeGreaterThan(3)
  expect(counts.acknowledged).toBeGreaterThan(20)
})

/** Calls overlap in real time, so a round can end without a call that shows the defect: up to one round in ten, as measured. */
const ROUNDS = 10

for (const defect of DEFECTS) {
  test(`a ${defect} is found within ${ROUNDS} rounds`, async () => {
    let found = false
    for (let round = 0; round < ROUNDS && !found; round++) {
      const options = { ...OPTIONS, resets: RESET_DEFECTS.has(defect), seed: seed + round, defect }
      found = (await runRound(await openStore(), options)).violations.length > 0
    }
    expect(found, `SEED=${seed}`).toBe(true)
  })
}
