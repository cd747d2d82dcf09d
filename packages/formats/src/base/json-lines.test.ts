import type { Diagnostic } from "@sessions/core"
import { expect, test } from "vitest"
import { readJsonLines, type SourceLine } from "./json-lines.ts"

async function readAll(...pieces: readonly string[]): Promise<{ lines: SourceLine[]; codes: string[] }> {
  const notes: Diagnostic[] = []
  const lines: SourceLine[] = []
  const main = (async function* () {
    yield* pieces
  })()
  for await (const some of readJsonLines(main, (note) => notes.push(note))) lines.push(...some)
  return { lines, codes: notes.map(({ code }) => code) }
}

test("lines have their numbers in the file, whatever the pieces are", async () => {
  const expected = {
    lines: [
      { at: 1, value: { a: 1 } },
      { at: 2, value: { b: "\u2028" } },
    ],
    codes: [],
  }
  expect(await readAll('{"a":1}\n{"b":"\u2028"}\n')).toEqual(expected)
  expect(await readAll('{"a"', ":1", "}\n{", '"b":"\u2028"}')).toEqual(expected)
})

test("a line that is no JSON object is reported and kept as text", async () => {
  const { lines, codes } = await readAll('x\n7\n{"a":1}\n')
  expect(codes).toEqual(["unparsable_line", "unparsable_line"])
  expect(lines).toEqual([
    { at: 1, text: "x", problem: "unparsable_line" },
    { at: 2, text: "7", problem: "unparsable_line" },
    { at: 3, value: { a: 1 } },
  ])
})

test("a cut last line is torn, a whole one without a line feed is not", async () => {
  expect(await readAll('{"a":1}\n{"b":')).toMatchObject({
    lines: [{ at: 1 }, { at: 2, text: '{"b":' }],
    codes: ["torn_tail"],
  })
  expect(await readAll('{"a":1}\n{"b":2}')).toMatchObject({ lines: [{ at: 1 }, { at: 2, value: { b: 2 } }], codes: [] })
})

test("blank lines are left out, counted, and reported once", async () => {
  const { lines, codes } = await readAll('\n{"a":1}\r\n \n')
  expect(lines).toEqual([{ at: 2, value: { a: 1 } }])
  expect(codes).toEqual(["unparsable_line"])
})
