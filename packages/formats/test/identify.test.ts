/** The formats tell their files from those of all others. */
import { expect, test } from "vitest"
import { formats } from "../src/formats.ts"
import { identify } from "../src/identify.ts"
import { fixture, hasFixtures } from "./fixtures.ts"

const expected = hasFixtures
  ? (JSON.parse(fixture("expected.json")) as { readonly files: Readonly<Record<string, { readonly format: string }>> })
  : { files: {} }
const names = new Set(formats.map(({ format }) => format))
const files = Object.entries(expected.files).filter(([, { format }]) => names.has(format))

test.skipIf(!hasFixtures)("every fixture is of its own format only", () => {
  const found = files.map(([name]) => [
    name,
    formats.filter((format) => format.identify(fixture(name))).map(({ format }) => format),
  ])
  expect(found).toEqual(files.map(([name, { format }]) => [name, [format]]))
})

test("a file of no format is rejected by each with a reason", () => {
  for (const text of ["", "hello", "{}", "[]", '{"type":"session","version":3}\n']) {
    const { format, rejected } = { format: undefined, rejected: [], ...identify(text, formats) }
    expect([format, rejected.length]).toEqual([undefined, formats.length])
  }
})
