/** The tables of `docs/formats.md` that name formats and what they read and write. */
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { formats, writers } from "../src/formats.ts"

const page = readFileSync(new URL("../../../docs/formats.md", import.meta.url), "utf8")

test("the first table says of each format whether it is read and written", () => {
  const rows = page.split("\n## ")[0]?.matchAll(/^\| `([^`]+)` \|.*?\| (yes|by core)[^|]*\| (yes|no)[^|]*\|$/gm) ?? []
  const table = Array.from(rows, ([, name, read, written]) => [name, read === "yes", written === "yes"])
  const written = new Set(writers.map(({ format }) => format))
  const known = formats.map(({ format }) => [format, true, written.has(format)])
  const others = writers.filter(({ format }) => !formats.some((one) => one.format === format))
  const all = [...known, ...others.map(({ format }) => [format, false, true])]
  const sorted = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort()
  expect(sorted(table)).toEqual(sorted(all))
})
