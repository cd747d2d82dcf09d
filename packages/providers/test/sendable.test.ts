/** Whatever happened to a session, each receiver takes its context. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { fixturesOf } from "../../formats/test/fixtures.ts"
import { importText } from "../../formats/test/laws.ts"
import { formats } from "../../formats/src/formats.ts"
import { runs } from "../../../.config/runs.ts"
import { sessionAfter, steps } from "./histories.ts"
import { contextOf, RECEIVERS, refusals, WAYS } from "./sendable.ts"

const IMPORTED = fixturesOf(formats.map(({ format }) => format)).filter(
  ({ expected }) => expected.messages !== undefined,
)

test.each(RECEIVERS)("$name takes the context after any history", (receiver) =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      const session = await sessionAfter(list)
      expect(refusals(await contextOf(session, way), [receiver])).toEqual([])
    }),
    { numRuns: runs(40) },
  ),
)

test.each(IMPORTED)("every receiver takes what another agent has written: $name", async ({ golden, expected }) => {
  const format = formats.find((one) => one.format === expected.format)
  if (format === undefined) throw new Error(`No format ${expected.format}.`)
  const { session } = await importText(format, golden)
  for (const way of WAYS) expect(refusals(await contextOf(session, way))).toEqual([])
})
