import { expect, test } from "vitest"
import type { Result } from "../report.ts"
import { outcomesOf } from "../targets.ts"
import { standing } from "./draw.ts"
import { page } from "./page.ts"
import { figures } from "./plots.ts"

const base: Result = { id: "s3.resume", runtime: "node 26.10.0", value: 2, unit: "ms", spread: [1, 3], rounds: 20 }
const curve: Result = {
  ...base,
  id: "append.latency",
  series: {
    ours: [
      [0.5, 15],
      [0.999, 300],
    ],
    "write + fstat": [
      [0.5, 10],
      [0.999, 100],
    ],
  },
}

test("a check passes from its limit on and skips results it does not apply to", () => {
  const labels = (result: Result): string[] => outcomesOf(result).map(({ label, holds }) => `${label} ${holds}`)
  expect(labels({ ...base, ratio: 0.9, work: { requests: 1 } })).toEqual(["ratio at least 0.9 true", "1 request true"])
  expect(labels({ ...base, ratio: 0.89, work: { requests: 2 } })).toEqual([
    "ratio at least 0.9 false",
    "1 request false",
  ])
  expect(labels({ ...base, id: "append.os.awaited", ratio: 0.1, runtime: "deno 2.9.6" })).toEqual([])
  expect(labels({ ...base, id: "peers.append", peers: { one: 3, two: 2 } })).toEqual(["faster than each false"])
})

test("the page has each figure with its checks, and the reason only for a failed one", () => {
  const drawn = (ratio: number): string => page({ machine: {}, results: [{ ...base, raw: 1.5, ratio }] }, [])
  expect(drawn(0.6)).toContain("ratio at least 0.9: short")
  expect(drawn(0.6)).toContain("The server answers from memory")
  expect(drawn(0.95)).toContain("ratio at least 0.9\u00a0✓")
  expect(drawn(0.95)).not.toContain("The server answers from memory")
  expect(drawn(0.95)).toContain("(1 to 3)")
})

test("names from a result are escaped in the page", () => {
  const result = { ...base, id: "a<b", peers: { "<i>": 1 } }
  expect(page({ machine: {}, results: [result] }, figures([result]))).not.toMatch(/<i>|a<b/)
})

test("a plot takes its colours from the page, and as a separate file has those of both themes", () => {
  const [figure] = figures([curve])
  const svg = figure?.draw(720) ?? ""
  expect(svg).toContain("var(--ours)")
  expect(svg).not.toContain("--ours:")
  const file = standing(svg)
  expect(file.match(/--ours:#/g)).toHaveLength(2)
  expect(file).toContain("prefers-color-scheme:dark")
  // Inside the element: an SVG file begins with its element.
  expect(file).toMatch(/^<svg [^>]*><style>/)
})
