import { expect, test } from "vitest"
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseEntry } from "./parse-entry.ts"

function parse(record: unknown, seq = 3) {
  const found: Diagnostic[] = []
  const line = typeof record === "string" ? record : JSON.stringify(record)
  const slot = parseEntry(line, seq, (diagnostic) => found.push(diagnostic))
  return { slot, codes: found.map(({ code }) => code), found }
}

const sound = { type: "x_future", id: "a", parentId: null, seq: 3, timestamp: "t", more: { a: [1] } }

test("an entry is returned as it is, including unknown types and fields", () => {
  expect(parse(sound)).toMatchObject({ slot: sound, codes: [] })
})

test("the position wins over an entry's seq, and the difference is reported", () => {
  for (const seq of [4, -1, 1.5, "3", null, undefined]) {
    const { slot, codes } = parse({ ...sound, seq })
    expect(slot).toEqual(sound)
    expect(codes).toEqual(["seq_mismatch"])
  }
})

test("a line that is not an entry is reported without its content", () => {
  const lines = ["", " ", "not JSON", "[1]", "5", "null", "{}", '{"type":7}', '{"type":"session","id":"x"}']
  const records = [
    { ...sound, id: "" },
    { ...sound, id: 5 },
    { ...sound, id: undefined },
    { ...sound, parentId: 5 },
    { ...sound, parentId: undefined },
  ]
  for (const line of [...lines, ...records]) {
    expect(parse(line)).toMatchObject({ slot: undefined, codes: ["unparsable_line"], found: [{ seq: 3 }] })
  }
  const [secret] = parse(`{"type":"${"secret".repeat(1_000)}"}`).found
  expect(secret?.message.length).toBeLessThan(200)
})

test("a BOM and a CR around a record change nothing", () => {
  expect(parse(`\ufeff${JSON.stringify(sound)}\r`)).toMatchObject({ slot: sound, codes: [] })
})

test("the record in the header's position is not an entry, and is not reported", () => {
  expect(parse({ ...sound, seq: 0 }, 0)).toEqual({ slot: undefined, codes: [], found: [] })
})
