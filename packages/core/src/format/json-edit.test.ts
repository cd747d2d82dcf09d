import * as fc from "fast-check"
import { expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import { holds } from "../../test/property.ts"
import { withChanges, withFields, withValueAt } from "./json-edit.ts"

/** JSON as no program writes it: white space anywhere, keys twice, escapes where none are needed. */
const key = fc.constantFrom("a", "b", "__proto__", "", 'q"\\', "é", "0")
const space = fc.constantFrom("", " ", "\n\t", "  ")
const leaf = fc.constantFrom(
  "1",
  "12345678901234567890",
  "1.0",
  "-0",
  "1e400",
  "null",
  "true",
  '"\\u0041"',
  '"}]\\\\\\""',
  '""',
)
const { json } = fc.letrec<{ json: string; object: string }>((tie) => ({
  json: fc.oneof({ depthSize: "small" }, leaf, tie("object"), list(tie("json"))),
  object: object(tie("json")),
}))
const text = object(json)

function list(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(fc.array(fc.tuple(space, value, space), { maxLength: 4 }), space).map(([items, gap]) => {
    return items.length === 0 ? `[${gap}]` : `[${items.map((item) => item.join("")).join(",")}]`
  })
}

function object(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.tuple(space, key, space, space, value, space), { maxLength: 4 }), space)
    .map(([items, gap]) => {
      const members = items.map(([a, name, b, c, said, d]) => `${a}${JSON.stringify(name)}${b}:${c}${said}${d}`)
      return members.length === 0 ? `{${gap}}` : `{${members.join(",")}}`
    })
}

type Fields = Record<string, unknown>

test("a field is set to a value", () => {
  holds(
    fc.property(text, key, fc.constantFrom<unknown>(undefined, 7, null, { x: ["y"] }), (before, name, value) => {
      const expected = new Map(Object.entries(JSON.parse(before) as Fields))
      if (value === undefined) expected.delete(name)
      else expected.set(name, value)
      const after = JSON.parse(withValueAt(before, [name], value)) as Fields
      expect(new Map(Object.entries(after))).toEqual(expected)
    }),
    1_000,
  )
})

/** Two texts of one value: no number is as large, and what is none reads as null. */
const FOUND: readonly [string, string[]][] = [['{"":{"a":{"a":null},"0":1e400}}', ["", "0"]]]

test("a nested value is changed, and nothing else", () => {
  holds(
    fc.property(text, fc.array(key, { minLength: 2, maxLength: 4 }), (before, path) => {
      let holder: unknown = JSON.parse(before)
      for (const name of path.slice(0, -1)) holder = own(holder, name)
      const last = path.at(-1) as string
      const after = withValueAt(before, path, "changed")
      if (typeof holder !== "object" || holder === null || (Array.isArray(holder) && own(holder, last) === undefined)) {
        expect(after).toBe(before)
        return
      }
      let changed: unknown = JSON.parse(after)
      for (const name of path) changed = own(changed, name)
      expect(changed).toBe("changed")
      expect(onlyDifference(before, after, own(holder, last))).toBe(true)
    }),
    1_000,
    0,
    FOUND,
  )
})

/** Whether one text is the other but for this value, or for a field that was not there. */
function onlyDifference(before: string, after: string, value: unknown): boolean {
  const places = Array.from(after.matchAll(/"changed"/g), ({ index }) => index)
  return places.some((at) => {
    const rest = after.slice(at + '"changed"'.length)
    if (!before.endsWith(rest)) return false
    if (value !== undefined) {
      const text = before.slice(at, before.length - rest.length)
      return before.startsWith(after.slice(0, at)) && isJsonOf(text, value)
    }
    const kept = before.slice(0, before.length - rest.length)
    return after.startsWith(kept) && /^,?"(?:[^"\\]|\\.)*":$/.test(after.slice(kept.length, at))
  })
}

function isJsonOf(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}

function own(holder: unknown, name: string): unknown {
  const isHolder = typeof holder === "object" && holder !== null && Object.hasOwn(holder, name)
  return isHolder && name !== "length" ? (holder as Fields)[name] : undefined
}

test("unchanged parts keep their text", () => {
  const line = '\uFEFF { "b" : 12345678901234567890 ,"a":\t1.0, "c":{"x":[1e400 , "\\u0041"]}, "d":-0 }\r'
  expect(withFields(line, { a: "new" })).toBe(line.replace("1.0", '"new"'))
  expect(withFields(line, { e: true })).toBe(line.replace("-0 }", '-0,"e":true }'))
  expect(withFields(line, { a: undefined })).toBe(line.replace('"a":\t1.0, ', ""))
  expect(withFields(line, { d: undefined })).toBe(line.replace(', "d":-0', ""))
  expect(withValueAt(line, ["c", "x", "1"], "B")).toBe(line.replace('"\\u0041"', '"B"'))
  expect(withValueAt(line, ["c", "x", "2"], "B")).toBe(line)
  expect(withValueAt(line, ["b", "x"], "B")).toBe(line)
})

test("of duplicate keys the last is changed, and both are removed", () => {
  expect(withFields('{"a":1,"b":2,"a":3}', { a: 4 })).toBe('{"a":1,"b":2,"a":4}')
  expect(withFields('{"a":1,"b":2,"a":3}', { a: undefined })).toBe('{"b":2}')
  expect(withFields('{"a":1,"a":3}', { a: undefined, b: 5 })).toBe('{"b":5}')
})

test("a changed record is edited only at its differences", () => {
  const line = '{"n":12345678901234567890, "m":{"k":[1.0,{"t":"long"}],"gone":1}}'
  const before = JSON.parse(line) as Fields
  const after = { ...before, m: { k: [1, { t: "short" }] }, added: [] }
  expect(withChanges(line, before, after)).toBe('{"n":12345678901234567890, "m":{"k":[1.0,{"t":"short"}]},"added":[]}')
  expect(withChanges(line, before, before)).toBe(line)
})

test("long strings full of quotes and backslashes take linear time", () => {
  const nasty = JSON.stringify({ a: '\\"'.repeat(500_000), b: "\\".repeat(1_000_000), c: 1 })
  const started = cpuTime()
  expect(withFields(nasty, { c: 2 })).toBe(nasty.replace(/1\}$/, "2}"))
  expect(cpuTime() - started).toBeLessThan(2_000)
})
