import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { RowKey } from "../src/schema.ts"
import { planMerges } from "../src/log/compact-rows.ts"
import { chunksOf, endAfter, linesOf, ROW_BYTES, toRows } from "../src/log/rows.ts"
import { runs } from "../../../.config/runs.ts"

const lines = fc.array(
  fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).map((text) => text.replaceAll("\n", " ")),
  { minLength: 1, maxLength: 60 },
)

test("rows give their lines back in contiguous chunks, clipped to the range", () => {
  fc.assert(
    fc.property(lines, fc.nat(80), fc.nat(60), fc.nat(60), (all, maxLength, a, b) => {
      const rows = toRows("log", { next: 0, bytes: 0 }, all, maxLength).map(({ row }) => row)
      const [from, to] = [Math.min(a, b, all.length), Math.min(Math.max(a, b), all.length)]
      const received: string[] = []
      for (const chunk of chunksOf(rows, from, to)) {
        expect(chunk.from).toBe(from + received.length)
        received.push(...chunk.lines)
      }
      expect(received).toEqual(all.slice(from, to))
    }),
    { numRuns: runs(200) },
  )
})

test("a row's key holds its first seq and its byte offset, and only a row of a single line is longer than the maximum", () => {
  fc.assert(
    fc.property(lines, fc.nat(80), (all, maxLength) => {
      const start = { next: 7, bytes: 100 }
      const rows = toRows("log", start, all, maxLength)
      let at = start
      for (const { key, row } of rows) {
        expect(key).toEqual(["log", at.next, at.bytes])
        const own = linesOf(row, at.next)
        expect(row.text.length < maxLength || own.length === 1).toBe(true)
        at = { next: at.next + own.length, bytes: at.bytes + new TextEncoder().encode(`${row.text}\n`).length }
      }
      expect(endAfter(rows, all.length, start)).toEqual(at)
    }),
    { numRuns: runs(200) },
  )
})

test("a compaction merges neighbours that fit a row, and a second one finds nothing to merge", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 200 }), (sizes) => {
      const plan = planMerges(keysOf(sizes), total(sizes))
      for (const { first, count } of plan) {
        expect(count).toBeGreaterThan(1)
        expect(total(sizes.slice(first, first + count))).toBeLessThanOrEqual(ROW_BYTES)
      }
      const merged = merge(sizes, plan)
      expect(planMerges(keysOf(merged), total(merged))).toEqual([])
    }),
    { numRuns: runs(200) },
  )
})

test("a thousand rows of 2 KB become 33, and ten at the end stay until there are more", () => {
  const sizes = Array.from({ length: 1_000 }, () => 2_000)
  expect(merge(sizes, planMerges(keysOf(sizes), total(sizes))).length).toBe(33 + 10)
})

test("a damaged row is `corrupt`, with the seq of the line that it should begin with", () => {
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

function merge(sizes: readonly number[], plan: ReturnType<typeof planMerges>): number[] {
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
