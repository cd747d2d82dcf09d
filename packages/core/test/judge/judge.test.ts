import { isTooLong } from "@sessions/core/compaction"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../../.config/runs.ts"
import { drawCase, judge, judgeModels } from "./judge.ts"
import { isBusy } from "./loop.ts"
import { BUSY, TOO_LONG, TOO_MANY_BYTES, TOO_MANY_IMAGES } from "./refusals.ts"

test("the refusals of all simulated providers are known, and a busy provider refuses nothing", () => {
  for (const [provider, words] of Object.entries(TOO_LONG))
    expect([provider, isTooLong(words(9_000, 8_000))]).toEqual([provider, true])
  for (const words of TOO_MANY_BYTES) expect(isTooLong(words())).toBe(true)
  for (const words of TOO_MANY_IMAGES) expect(isTooLong(words(107, 100))).toBe(true)
  for (const words of BUSY) expect([isTooLong(words()), isBusy(words())]).toEqual([false, true])
})

test("a seed repeats its history, with new ids", async () => {
  const outcomes = await Promise.all(
    [1, 2].map(async () => {
      const { world, ops } = drawCase(14)
      const { broken, ...outcome } = await judge(world, ops)
      return { ...outcome, broken: Array.from(broken, ([law, what]) => [law, what.replaceAll(/\b01\w{24}\b/g, "id")]) }
    }),
  )
  expect(outcomes[0]).toEqual(outcomes[1])
})

test("the rules, with a ruler that knows only reports and refusals, keep the laws of every request", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), async (seed) => {
      const { world, ops } = drawCase(seed)
      const [outcome] = await judgeModels(world, ops, [{}])
      expect(outcome?.broken).toEqual(new Map())
    }),
    { numRuns: runs(25) },
  )
})
