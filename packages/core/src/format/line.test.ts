import * as fc from "fast-check"
import { expect, test } from "vitest"
import { CUT_OFF, firstVersionLines } from "../../test/first-version.ts"
import { holds } from "../../test/property.ts"
import { entry as anyEntry } from "../../test/records.ts"
import type { Entry } from "./entry.ts"
import { withSeq } from "./json-edit.ts"
import { encodeEntry, encodeHeader, toEncodedEntry, lineOf, parseLine } from "./line.ts"

const base = { id: "01B", parentId: "01A", seq: 7, timestamp: "2026-01-31T09:30:00.000Z" }
const encode = (entry: object, seq = 7) => lineOf(toEncodedEntry(entry as Entry), seq)

test("a line is type, id, parentId, seq, timestamp, then the payload in its own order", () => {
  const expected =
    '{"type":"custom","id":"01B","parentId":"01A","seq":7,"timestamp":"2026-01-31T09:30:00.000Z","z":1,"customType":"n"}'
  expect(encode({ type: "custom", ...base, z: 1, customType: "n" })).toBe(expected)
  expect(encode({ z: 1, timestamp: base.timestamp, customType: "n", type: "custom", parentId: "01A", id: "01B" })).toBe(
    expected,
  )
})

test("a complete entry is encoded with its own seq", () => {
  expect(encodeEntry({ type: "leaf", ...base })).toBe(encode({ type: "leaf", ...base }, base.seq))
})

test("seq is filled in whatever the entry says, in an entry with and without payload", () => {
  expect(encode({ type: "leaf", ...base, parentId: null }, 123)).toBe(
    '{"type":"leaf","id":"01B","parentId":null,"seq":123,"timestamp":"2026-01-31T09:30:00.000Z"}',
  )
  expect(encode({ type: "leaf", id: "01B", timestamp: "t", parentId: null }, 123)).toBe(
    '{"type":"leaf","id":"01B","parentId":null,"seq":123,"timestamp":"t"}',
  )
})

test("seq is inserted at its position, whatever the type and the ids contain", () => {
  const hostile = 'x","seq":1,"timestamp":"t'
  const entry = { type: hostile, id: hostile, parentId: hostile, seq: 0, timestamp: hostile, seqs: { seq: 5 } }
  expect(JSON.parse(encode(entry, 9))).toEqual({ ...entry, seq: 9 })
})

test("keys that look like indexes do not come before the type", () => {
  const line = encode({ 12: { seq: 1 }, type: "custom", ...base, customType: "n" }, 3)
  expect(line.startsWith('{"type":"custom","id":"01B","parentId":"01A","seq":3,')).toBe(true)
  expect(JSON.parse(line)).toMatchObject({ 12: { seq: 1 }, seq: 3 })
})

test("an encoded entry is parsed with every field, own __proto__ keys and lone surrogates included", () => {
  holds(
    fc.property(anyEntry, fc.nat(), (entry, seq) => {
      const line = encode(entry, seq)
      expect(line).not.toMatch(/[\ud800-\udfff](?<![\ud800-\udbff][\udc00-\udfff])(?![\udc00-\udfff])/)
      const { record, problem } = parseLine(line)
      expect(problem).toBeUndefined()
      const { seq: _, ...rest } = entry
      expect(sorted(record)).toEqual(sorted(withoutTransients({ ...rest, seq })))
      expect(
        Object.keys(record ?? {})
          .filter((key) => !/^\d+$/.test(key))
          .slice(0, 5),
      ).toEqual(["type", "id", "parentId", "seq", "timestamp"])
      expect(withSeq(line, seq + 1)).toBe(encode(entry, seq + 1))
    }),
    300,
  )
})

test("fields of a stream in progress are dropped from entries with content, messages and blocks, and from nothing else", () => {
  const marks = { partialJson: "{", jsonlEvents: [1] }
  const call = { type: "toolCall", id: "c", name: "n", arguments: marks }
  const result = { type: "text", text: "t", details: marks }
  const message = { role: "assistant", content: [call, result, null], details: marks }
  const marked = { ...message, ...marks, content: [{ ...call, ...marks }, result, null] }
  expect(JSON.parse(encode({ type: "message", ...base, message: marked, ...marks }))).toEqual({
    type: "message",
    ...base,
    message,
  })
  expect(JSON.parse(encode({ type: "custom_message", ...base, ...marks, content: [{ ...result, ...marks }] }))).toEqual(
    {
      type: "custom_message",
      ...base,
      content: [result],
    },
  )
  expect(
    JSON.parse(encode({ type: "context_edit", ...base, ...marks, replacement: { content: [{ ...call, ...marks }] } })),
  ).toEqual({ type: "context_edit", ...base, replacement: { content: [call] } })
  const custom = { type: "x_future", ...base, ...marks, content: [marks], message: marks, data: marks }
  expect(JSON.parse(encode(custom))).toEqual(custom)
})

test("encoding does not modify the entry", () => {
  const entry = { type: "message", ...base, partialJson: "{", message: { content: [{ type: "x", partialJson: "{" }] } }
  const before = structuredClone(entry)
  encode(entry)
  expect(entry).toEqual(before)
})

test("values without JSON text are left out, also a function named toJSON", () => {
  const entry = { type: "custom", ...base, a: undefined, f: () => 1, toJSON: () => "gone", customType: "n" }
  expect(JSON.parse(encode(entry))).toEqual({ type: "custom", ...base, customType: "n" })
  expect(encode({ type: "custom", ...base, toJSON: "kept" })).toContain('"toJSON":"kept"')
})

test("values that cannot be JSON are invalid", () => {
  const cycle: Record<string, unknown> = { type: "custom", ...base }
  cycle["self"] = cycle
  for (const entry of [cycle, { type: "custom", ...base, n: 1n }]) {
    expect(() => encode(entry)).toThrow(expect.objectContaining({ code: "invalid" }))
  }
})

test("deep nesting is encoded, or refused if the runtime cannot write it", () => {
  let deep: unknown = []
  for (let i = 0; i < 200_000; i++) deep = [deep]
  let code: unknown
  try {
    code = parseLine(encode({ type: "custom", ...base, deep })).record?.type
  } catch (error) {
    code = (error as { code?: unknown }).code
  }
  expect(["custom", "too_large"]).toContain(code)
})

test("a header's line has its own five keys first", () => {
  const header = { cwd: "/p", timestamp: "t", id: "s", version: 4, format: "@sessions", type: "session", x: 1 } as const
  expect(encodeHeader(header)).toBe(
    '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"t","cwd":"/p","x":1}',
  )
})

test("withSeq returns undefined for keys in another order", () => {
  const line = encode({ type: "leaf", ...base })
  expect(withSeq(line, 8)).toBe(line.replace('"seq":7', '"seq":8'))
  expect(withSeq(`\ufeff${line}`, 8)).toBeUndefined()
  expect(withSeq(line.replace('"type":"leaf",', ""), 8)).toBeUndefined()
  expect(withSeq(line.replace('{"type"', '{ "type"'), 8)).toBeUndefined()
  expect(withSeq('{"type":"x","id":"a","seq":1,"timestamp":""}', 8)).toBeUndefined()
  expect(withSeq('{"type":"x","id":"a","parentId":null,"seq":1,"x":1,"timestamp":""}', 8)).toBeUndefined()
})

test("a BOM before the line and a CR after it are tolerated", () => {
  expect(parseLine('\ufeff{"type":"x"}\r')).toEqual({ record: { type: "x" } })
})

test("U+2028 and U+2029 are ordinary characters", () => {
  expect(parseLine('{"type":"x","t":"a\u2028b\u2029c"}')).toEqual({ record: { type: "x", t: "a\u2028b\u2029c" } })
})

test("a line that is not a record has a problem and never throws", () => {
  for (const line of [
    "",
    " ",
    "\r",
    "\ufeff",
    "{",
    "null",
    "1",
    '"type"',
    "[]",
    '[{"type":"x"}]',
    "{}",
    '{"type":1}',
  ]) {
    const parsed = parseLine(line)
    expect({ line, ...parsed }).toEqual({ line, problem: expect.stringMatching(/^The .*\.$/) })
  }
  expect(parseLine('{"__proto__":{"type":"x"}}').record).toBeUndefined()
  holds(fc.property(fc.string(), (line) => void parseLine(line)))
})

test("the problem does not quote the line", () => {
  expect(parseLine("sk-secret").problem).not.toContain("secret")
})

test("deep nesting is a record or a problem, never a crash", () => {
  const deep = `{"type":"x","v":${"[".repeat(200_000)}${"]".repeat(200_000)}}`
  const parsed = parseLine(deep)
  expect(parsed.record?.type ?? parsed.problem).toBeTypeOf("string")
  expect(parseLine("[".repeat(200_000)).problem).toBeTypeOf("string")
})

test("a session of another agent keeps all but the fields of a stream in progress", () => {
  let dropped = 0
  for (const [seq, line] of firstVersionLines().entries()) {
    const { record } = parseLine(line)
    const entry = { id: `e${seq}`, parentId: null, timestamp: "", ...record, seq }
    const written = encode(entry, seq)
    if (JSON.stringify(sorted(JSON.parse(written))) !== JSON.stringify(sorted(entry))) dropped++
    expect(sorted(JSON.parse(written))).toEqual(sorted(withoutTransients(entry)))
  }
  expect(dropped).toBe(CUT_OFF)
})

/** The rule of the test above, stated once more in the plainest way. */
function withoutTransients(entry: Record<string, unknown>): unknown {
  const drop = (value: unknown, inside: (v: Record<string, unknown>) => void): void => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return
    const fields = value as Record<string, unknown>
    delete fields["partialJson"]
    delete fields["jsonlEvents"]
    inside(fields)
  }
  const blocks = (holder: Record<string, unknown>): void => {
    const { content } = holder
    if (Array.isArray(content)) for (const block of content) drop(block, () => {})
  }
  const copy = JSON.parse(JSON.stringify(entry)) as Record<string, unknown>
  if (copy["type"] === "message") drop(copy, (e) => drop(e["message"], blocks))
  if (copy["type"] === "custom_message") drop(copy, blocks)
  if (copy["type"] === "context_edit") drop(copy, (e) => drop(e["replacement"], blocks))
  return copy
}

/** The same value as pairs, sorted by key: comparing objects misses their `__proto__`. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .map(([key, inner]) => [key, sorted(inner)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

test("withSeq takes strings of any length, with any escapes", () => {
  for (const long of ["x".repeat(20_000_000), "\\\\".repeat(2_000_000), '\\"'.repeat(2_000_000)]) {
    for (const [type, id, parent] of [
      [long, "a", "null"],
      ["message", long, "null"],
      ["message", "a", `"${long}"`],
    ]) {
      const line = (seq: number): string =>
        `{"type":"${type}","id":"${id}","parentId":${parent},"seq":${seq},"timestamp":"t"}`
      expect(withSeq(line(7), 8) === line(8)).toBe(true)
    }
  }
})
