import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { RowKey } from "../src/database/schema.ts"
import { planFold } from "../src/log/compact-rows.ts"
import { chunksOf, endOf, linesOf, ROW_BYTES, toRows } from "../src/log/rows.ts"
import { seeded } from "./seed.ts"

const lines = fc.array(
  fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).map((text) => text.replaceAll("\n", " ")),
  { minLength: 1, maxLength: 60 },
)

test("lines come back from their rows, in chunks that are contiguous and clipped to the range", () => {
  seeded(
    fc.property(lines, fc.nat(80), fc.nat(60), fc.nat(60), (all, most, a, b) => {
      const rows = toRows("log", { next: 0, bytes: 0 }, all, most).map(({ row }) => row)
      const [from, to] = [Math.min(a, b, all.length), Math.min(Math.max(a, b), all.length)]
      const came: string[] = []
      for (const chunk of chunksOf(rows, from, to)) {
        expect(chunk.from).toBe(from + came.length)
        came.push(...chunk.lines)
      }
      expect(came).toEqual(all.slice(from, to))
    }),
  )
})

test("a row's key says where it starts, in lines and in bytes, and rows are no longer than they may be but for a single line", () => {
  seeded(
    fc.property(lines, fc.nat(80), (all, most) => {
      const start = { next: 7, bytes: 100 }
      const rows = toRows("log", start, all, most)
      let at = start
      for (const { key, row } of rows) {
        expect(key).toEqual(["log", at.next, at.bytes])
        const own = linesOf(row, at.next)
        expect(row.text.length < most || own.length === 1).toBe(true)
        at = { next: at.next + own.length, bytes: at.bytes + new TextEncoder().encode(`${row.text}\n`).length }
      }
      expect(endOf(rows, all.length, start)).toEqual(at)
    }),
  )
})

test("what is folded are neighbours that fit a row, and what was folded is not folded again", () => {
  seeded(
    fc.property(fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 200 }), (sizes) => {
      const plan = planFold(keysOf(sizes), total(sizes))
      for (const { first, count } of plan) {
        expect(count).toBeGreaterThan(1)
        expect(total(sizes.slice(first, first + count))).toBeLessThanOrEqual(ROW_BYTES)
      }
      const folded = fold(sizes, plan)
      expect(planFold(keysOf(folded), total(folded))).toEqual([])
    }),
  )
})

test("many small rows become few: of a thousand rows of 2 KB 33 are left, and ten at the end that wait for more", () => {
  const sizes = Array.from({ length: 1_000 }, () => 2_000)
  expect(fold(sizes, planFold(keysOf(sizes), total(sizes))).length).toBe(33 + 10)
})

test("a damaged row is told from a good one, with the line that it should hold", () => {
  for (const row of [
    undefined,
    {},
    { from: 3, bytes: 2 },
    { from: 3, bytes: 2, text: "" },
    { from: 4, bytes: 2, text: "a" },
  ]) {
    expect(() => linesOf(row, 3)).toThrow(expect.objectContaining({ code: "corrupt", at: "log row 3" }))
  }
})

function keysOf(sizes: readonly number[]): RowKey[] {
  let offset = 0
  return sizes.map((size, index) => {
    offset += size
    return ["log", index, offset - size]
  })
}

function fold(sizes: readonly number[], plan: ReturnType<typeof planFold>): number[] {
  const rows: number[] = []
  for (let at = 0; at < sizes.length; ) {
    const count = plan.find(({ first }) => first === at)?.count ?? 1
    rows.push(total(sizes.slice(at, at + count)))
    at += count
  }
  return rows
}

function total(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0)
}
