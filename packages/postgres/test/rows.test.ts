import { expect, test } from "vitest"
import { bytesBefore, type Row, toSteps } from "../src/rows.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function row(seq: number, lines: number, text: string, asText: boolean): Row {
  return { seq, lines, size: bytes(text).length, body: asText ? text : bytes(text) }
}

async function read(
  rows: readonly Row[],
  cut: { from?: number; to?: number; skip?: number } = {},
  lines: string[] = [],
): Promise<string[]> {
  const pages = (async function* () {
    yield { rows }
  })()
  for await (const step of toSteps(pages, { log: "l", from: 0, to: 100, skip: 0, ...cut })) {
    if (step.damage !== undefined) throw step.damage
    lines.push(...step.chunk.lines)
  }
  return lines
}

for (const asText of [true, false]) {
  const rows = [row(0, 2, "é\nb\n", asText), row(2, 1, "\n", asText), row(3, 2, "d\ne\n", asText)]
  const kind = asText ? "texts" : "bytes"

  test(`rows as ${kind} give the lines of a range`, async () => {
    expect(await read(rows)).toEqual(["é", "b", "", "d", "e"])
    expect(await read(rows, { from: 1, to: 4 })).toEqual(["b", "", "d"])
  })

  test(`of rows as ${kind}, bytes at the beginning are left out in whole lines, and never the last line`, async () => {
    expect(await read(rows, { skip: 3 })).toEqual(["b", "", "d", "e"])
    expect(await read(rows, { skip: 4 })).toEqual(["", "d", "e"])
    expect(await read(rows, { to: 4, skip: 100 })).toEqual(["d"])
  })

  test(`the bytes before a line are those of whole rows and of lines of the last one, as ${kind}`, () => {
    expect([0, 1, 2, 4, 5].map((to) => bytesBefore(rows, to, "l"))).toEqual([0, 3, 5, 8, 10])
  })

  test(`a row as ${kind} with more or fewer lines than it should have, or without its last LF, is \`corrupt\``, async () => {
    for (const [lines, text] of [
      [2, "a\n"],
      [1, "a\nb\n"],
      [1, "a"],
      [2, "a\nb"],
      [1, ""],
    ] as const) {
      await expect(read([row(0, lines, text, asText)])).rejects.toMatchObject({ code: "corrupt" })
    }
  })

  test(`a gap or an overlap between rows as ${kind} is \`corrupt\``, async () => {
    await expect(read([row(0, 1, "a\n", asText), row(2, 1, "c\n", asText)])).rejects.toMatchObject({ code: "corrupt" })
    const given: string[] = []
    const overlap = [row(0, 1, "a\n", asText), row(1, 3, "x\ny\nz\n", asText), row(2, 1, "c\n", asText)]
    await expect(read(overlap, {}, given)).rejects.toMatchObject({ code: "corrupt" })
    expect(given).toEqual(["a"])
  })
}
