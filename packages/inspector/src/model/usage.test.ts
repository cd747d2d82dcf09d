import { expect, test } from "vitest"
import type { Numbers, Row } from "./types.ts"
import { numbersOf, usageByModel } from "./usage.ts"

function call(model: string, usage?: Numbers): Row {
  return {
    seq: 0,
    id: "",
    parent: -1,
    type: "message",
    timestamp: "",
    text: "",
    call: true,
    model,
    ...(usage && { usage }),
  }
}

test("a number counts if it is one: other names, a cost object, and nothing for the rest", () => {
  expect(numbersOf({ inputTokens: 3, output: 0, cacheRead: "7", cost: { total: 0.5 } })).toEqual({
    input: 3,
    output: 0,
    cost: 0.5,
  })
  for (const none of [undefined, null, "x", {}, { input: Number.NaN }, { cost: {} }])
    expect(numbersOf(none)).toBeUndefined()
})

test("a sum has what was reported, and says how many calls did not report it", () => {
  const [first, second] = usageByModel([
    call("a", { input: 1, cost: 2 }),
    call("b"),
    call("a", { input: 4 }),
    call("a"),
  ])
  expect(first).toMatchObject({
    model: "a",
    calls: 3,
    numbers: { input: 5, cost: 2 },
    unknown: { input: 1, cost: 2, output: 3 },
  })
  expect(first?.numbers.output).toBeUndefined()
  expect(second).toMatchObject({ model: "b", calls: 1, numbers: {} })
})
