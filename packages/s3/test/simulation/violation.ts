/** Designs that lose or repeat lines, of which the simulation finds each. */
import { expect, test } from "vitest"
import type { Design } from "./designs.ts"
import { simulate } from "./simulate.ts"

export function violationTest(design: Design, problem: RegExp): void {
  test(`the simulation finds a violation of ${design.name}`, async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const { violations } = await simulate(design, seed)
      if (violations.some((violation) => problem.test(violation))) return
    }
    expect.fail(`300 seeds found no violation of ${design.name}`)
  })
}
