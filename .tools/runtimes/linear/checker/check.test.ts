import { describe, expect, test } from "vitest"
import { createDice } from "../../../../packages/core/test/dice.ts"
import { seed } from "../../../../packages/core/test/property.ts"
import { check } from "./check.ts"
import type { History, Operation } from "./history.ts"
import { mutations } from "./mutate.ts"
import { hasOrder } from "./search.ts"
import { simulate } from "./simulate.ts"

const RUNS = Number(process.env["FC_RUNS"] ?? 100)
const SIZES = { clients: 4, operations: 60, mostLines: 3 }

describe("histories of a correct storage", () => {
  for (const atomicBatch of ["all", "prefix"] as const) {
    test(`are accepted, with \`atomicBatch: "${atomicBatch}"\``, () => {
      for (let run = 0; run < RUNS; run++) {
        const history = simulate({ ...SIZES, dice: createDice(seed + run), atomicBatch })
        expect(check(history), `SEED=${seed + run}`).toEqual([])
      }
    })
  }
})

for (const [name, mutate] of Object.entries(mutations)) {
  test(`a history is rejected that has ${name}`, () => {
    let mutated = 0
    for (let run = 0; run < RUNS; run++) {
      const dice = createDice(seed + run)
      const history = mutate(simulate({ ...SIZES, dice, atomicBatch: "all" }), dice)
      if (history === undefined) continue
      mutated++
      expect(check(history), `SEED=${seed + run}`).not.toEqual([])
    }
    expect(mutated).toBeGreaterThan(RUNS / 10)
  })
}

test("the checker agrees with a search of all orders, on short histories, right and wrong ones", () => {
  const verdicts = { accepted: 0, rejected: 0 }
  for (let run = 0; run < RUNS * 10; run++) {
    const dice = createDice(seed + run)
    const legal = simulate({ dice, clients: 3, operations: 6, mostLines: 2, atomicBatch: "all" })
    const mutate = dice.chance(0.3) ? undefined : dice.pick(Object.values(mutations))
    const history = stretched(mutate?.(legal, dice) ?? legal, () => dice.next())
    const accepted = check(history).length === 0
    expect(accepted, `SEED=${seed + run}: ${JSON.stringify(history)}`).toBe(hasOrder(history))
    verdicts[accepted ? "accepted" : "rejected"]++
  }
  expect(Math.min(verdicts.accepted, verdicts.rejected)).toBeGreaterThan(RUNS)
})

/** With longer intervals some mutations are legal again. */
function stretched(history: History, random: () => number): History {
  const by = random() < 0.5 ? 0 : 8
  const stretch = (call: Operation): Operation => ({
    ...call,
    start: call.start - Math.round(random() * by),
    end: call.end + Math.round(random() * by),
  })
  return { ...history, operations: history.operations.map(stretch) }
}
