/** Whatever happened to a session, each receiver takes its context: 100,000 histories. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { sessionAfter, steps } from "./histories.ts"
import { contextOf, refusals, WAYS } from "./sendable.ts"

test("every receiver takes the context after any of 100,000 histories", () =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      expect(refusals(await contextOf(await sessionAfter(list), way))).toEqual([])
    }),
    { numRuns: 100_000 },
  ))
