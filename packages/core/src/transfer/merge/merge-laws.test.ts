import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import {
  brokenRealLaws,
  eachStays,
  plainUnion,
  type RealHistory,
  realHistory,
  type RealMerge,
} from "../../../test/merge-histories.ts"
import { holdsAsync } from "../../../test/property.ts"

const broken = (h: RealHistory, merge?: RealMerge): Promise<string[]> =>
  brokenRealLaws(h, { storage: createMemoryStorage, ...(merge && { merge }) })

test("merges converge with real sessions: annotations, branches, compactions, forks, blobs, skewed clocks, other writers, killed after any write", async () => {
  await holdsAsync(
    fc.asyncProperty(realHistory, async (h) => {
      expect(await broken(h)).toEqual([])
    }),
    25,
  )
})

test.each([
  ["a plain union", plainUnion],
  ["a merge after which each side stays on its own path", eachStays],
] as const)("the laws of real sessions find %s", async (_, merge) => {
  const found = await fc.check(
    fc.asyncProperty(realHistory, async (h) => (await broken(h, merge)).length === 0),
    { seed: 1, numRuns: 300, endOnFailure: true },
  )
  expect(found.failed).toBe(true)
})
