import { expect, test } from "vitest"
import { checkOptions, nearestName, optionsProblem, shown } from "./options.ts"

const NAMES = { signal: true, limit: true, maxBatchBytes: true } as const

test.each([{}, { limit: 1 }, { limti: undefined }, Object.create({ limti: 1 }) as object])(
  "known names, keys with the value undefined and inherited keys pass: %j",
  (options) => expect(optionsProblem("list", options, NAMES)).toBeUndefined(),
)

test.each([
  [{ limti: 5 }, 'list has no option "limti". Did you mean "limit"?'],
  [{ limit: 5, maxbatchbytes: null }, 'list has no option "maxbatchbytes". Did you mean "maxBatchBytes"?'],
  [{ folder: 5 }, 'list has no option "folder". Its options are signal, limit, maxBatchBytes.'],
  [{ toString: 5 }, 'list has no option "toString". Its options are signal, limit, maxBatchBytes.'],
  [JSON.parse('{"__proto__":5}'), 'list has no option "__proto__". Its options are signal, limit, maxBatchBytes.'],
  [undefined, "list takes an object with the options signal, limit, maxBatchBytes, not undefined."],
  [null, "list takes an object with the options signal, limit, maxBatchBytes, not null."],
  ["x", 'list takes an object with the options signal, limit, maxBatchBytes, not "x".'],
  [[], "list takes an object with the options signal, limit, maxBatchBytes, not an array."],
])("an unknown option is a problem, with the nearest name or all of them: %j", (options, problem) => {
  expect(optionsProblem("list", options, NAMES)).toBe(problem)
})

test("options within an option are named by their path", () => {
  expect(optionsProblem("list", { limti: 5 }, NAMES, "page.")).toBe(
    'list has no option "page.limti". Did you mean "page.limit"?',
  )
  expect(optionsProblem("list", 5, { limit: true }, "page.")).toBe(
    "`page` of list takes an object with the options limit, not 5.",
  )
})

test("`checkOptions` throws the problem as `invalid`", () => {
  const options: { limit?: number } = { limti: 5 } as object
  expect(() => checkOptions("list", options, { limit: true })).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining('"limti"') }),
  )
})

test.each([
  ["usr", "user"],
  ["LIMIT", "limit"],
  ["mesage", "message"],
  ["", undefined],
  ["x", undefined],
  ["folder", undefined],
  ["limit".repeat(1_000_000), undefined],
])("the nearest name of %j is %j", (wrong, name) => {
  expect(nearestName(wrong, ["limit", "user", "message"])).toBe(name)
})

test("a shown value is short, and nothing of the value is called", () => {
  const hostile = { toString: 1, toJSON: () => expect.unreachable() }
  expect(shown(hostile)).toBe("a value of type object")
  expect(shown("x".repeat(99))).toBe(`"${"x".repeat(40)}…"`)
  expect([null, undefined, 5, [], Symbol("s"), () => 1].map(shown)).toEqual([
    "null",
    "undefined",
    "5",
    "an array",
    "Symbol(s)",
    "a value of type function",
  ])
})
