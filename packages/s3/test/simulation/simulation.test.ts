import { expect, test } from "vitest"
import type { Design } from "./designs.ts"
import { adapter, hastyAcknowledgement, keysBySeq, unfencedCollector } from "./designs.ts"
import { simulate } from "./simulate.ts"

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

test("writers, a reader and a collector in bad weather lose nothing, write nothing twice and are told the truth", async () => {
  console.info(`SEED=${SEED}`)
  for (let seed = SEED; seed < SEED + 40; seed++) {
    expect((await simulate(adapter, seed)).violations, `SEED=${seed}`).toEqual([])
  }
})

test("a seed always gives the same run", async () => {
  expect(await simulate(adapter, 7)).toEqual(await simulate(adapter, 7))
})

/** Each was seen to go wrong on a real store, or would have. */
const wrong: readonly (readonly [Design, RegExp])[] = [
  [unfencedCollector, /which is not there|was removed although/],
  [hastyAcknowledgement, /was acknowledged and is not in its place/],
  [keysBySeq, /was refused \(conflict\) and is in a log/],
]

test.each(wrong)("the simulation finds what is wrong with $0.name", async (design, problem) => {
  for (let seed = 1; seed <= 300; seed++) {
    const { violations } = await simulate(design, seed)
    if (violations.some((violation) => problem.test(violation))) return
  }
  expect.fail(`300 seeds found nothing wrong with ${design.name}`)
})
