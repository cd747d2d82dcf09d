/** Whatever happened to a session, each receiver takes its context: 100,000 histories, and 10,000 for the providers of the AI SDK. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { AI_SDK, refusedOf } from "./clients/ai-sdk.ts"
import { sessionAfter, steps } from "./histories.ts"
import { contextOf, refusals, WAYS } from "./sendable.ts"

const PARTS = Array.from({ length: 10 }, (_, part) => part)
const { SEED: seed } = process.env

/** In parts, each of which ends before a test counts as hanging. Each has histories of its own. */
test.each(PARTS)("every receiver takes the context after any history, %i", (part) =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      expect(refusals(await contextOf(await sessionAfter(list), way))).toEqual([])
    }),
    { numRuns: runs(10_000), ...(seed !== undefined && { seed: Number(seed) + part }) },
  ),
)

test("every provider of the AI SDK takes the context after any history", () =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      const context = await contextOf(await sessionAfter(list), way)
      const refused = await Promise.all(AI_SDK.map((receiver) => refusedOf(context, receiver)))
      expect(refused.flat()).toEqual([])
    }),
    { numRuns: runs(10_000) },
  ))
