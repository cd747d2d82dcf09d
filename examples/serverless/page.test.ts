/** The costs of `docs/serverless.md` follow from its counts. */
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")
const PAGE = read("../../docs/serverless.md")

/** Dollars for a million, as the page names them. */
const PRICES: Readonly<Record<string, number>> = { PUT: 5, LIST: 5, GET: 0.4, DELETE: 0 }

test("each cost of the page is its requests times the prices of the page", () => {
  expect(PAGE).toContain("$5 for a million `PUT` or `LIST`, $0.40 for a million `GET`, nothing for `DELETE`")
  const rows = [...PAGE.matchAll(/^\| [^|]+ \| ((?:\d+ [A-Z]+(?:, )?)+) \| \$([\d.]+) \|$/gm)]
  expect(rows).toHaveLength(8)
  for (const [row, requests = "", cost] of rows) {
    const parts = requests.split(", ").map((part) => part.split(" "))
    const sum = parts.reduce((total, [count, name = ""]) => total + Number(count) * (PRICES[name] ?? Number.NaN), 0)
    expect(sum.toFixed(2), row).toBe(cost)
  }
})

test("KMS costs of a turn are two requests", () => {
  expect(PAGE).toContain("10,000 requests to it $0.03")
  expect(PAGE).toContain(`$${(2 * 1_000_000 * 0.03) / 10_000} for a million turns`)
})
