/** Whatever happened to a session, each receiver takes its context. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { fixturesOf } from "../../formats/test/fixtures.ts"
import { importText } from "../../formats/test/laws.ts"
import { formats } from "../../formats/src/formats.ts"
import { runs } from "../../../.config/runs.ts"
import { toAnthropic } from "../src/anthropic/index.ts"
import { newSession } from "./answers.ts"
import { sessionAfter, steps } from "./histories.ts"
import { contextOf, RECEIVERS, refusals, WAYS } from "./sendable.ts"
import { refusedByAnthropic } from "./validators/anthropic.ts"

const IMPORTED = fixturesOf(formats.map(({ format }) => format)).filter(
  ({ expected }) => expected.messages !== undefined,
)

test.each(RECEIVERS)("$name takes the context after any history", (receiver) =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      const session = await sessionAfter(list)
      expect(refusals(await contextOf(session, way), [receiver])).toEqual([])
    }),
    { numRuns: runs(20) },
  ),
)

test.each(IMPORTED)(
  "every receiver takes what another agent has written, and what comes after it: $name",
  async ({ golden, expected }) => {
    const format = formats.find((one) => one.format === expected.format)
    if (format === undefined) throw new Error(`No format ${expected.format}.`)
    const { session } = await importText(format, golden)
    for (const way of WAYS) expect(refusals(await contextOf(session, way))).toEqual([])
    const property = fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      // It has what the runs before have added, too.
      expect(refusals(await contextOf(await sessionAfter(list, session), way))).toEqual([])
    })
    await fc.assert(property, { numRuns: runs(2) })
  },
)

test("every receiver takes a session of 650 images", async () => {
  const session = await newSession()
  const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } as const
  for (let i = 0; i < 26; i++)
    await session.append({
      type: "message",
      message: { role: "user", content: Array.from({ length: 25 }, () => image) },
    })
  expect(refusals(await session.context())).toEqual([])
  const request = toAnthropic(await session.context()).request
  expect(refusedByAnthropic(request, { media: 100 })).toEqual([])
})
