import { readdirSync, readFileSync } from "node:fs"
import { cases, clauses, SUITE_VERSION } from "@sessions/conformance"
import { expect, test } from "vitest"

test("every case has a unique id that starts with its group, and a sentence as its title", () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
  for (const { id, group, title } of cases) {
    expect(id).toMatch(/^[A-Z]+-\d\d$/)
    expect(id.startsWith(`${group.toUpperCase()}-`)).toBe(true)
    expect(title.length).toBeGreaterThan(20)
  }
})

test("every clause has a case, and every case a clause", () => {
  const held = new Set(cases.map(({ clause }) => clause))
  expect([...held].toSorted()).toEqual(Object.keys(clauses).toSorted())
})

test("an optional capability has a case for storages with it and one for storages without it", () => {
  for (const capability of ["sync", "watch", "replace"]) {
    const needs = cases.flatMap((one) => one.needs?.text ?? [])
    expect(needs).toContain(`capabilities.${capability}`)
    expect(needs).toContain(`a storage without capabilities.${capability}`)
  }
})

test("the suite's version is its package's", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
  expect(SUITE_VERSION).toBe(manifest.version)
})

test("the suite loads in a page: it imports nothing but the storage contract", () => {
  const folder = new URL("../src/", import.meta.url)
  const others = /^(mutants|properties|proxy|cli)\b/
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !others.test(file),
  )
  const imported = files.flatMap((file) => [
    ...readFileSync(new URL(file, folder), "utf8").matchAll(/(?:from|import\() ?"([^"]+)"/g),
  ])
  const foreign = imported.flatMap(([, name]) => (name === undefined || name.startsWith(".") ? [] : name))
  expect([...new Set(foreign)]).toEqual(["@sessions/core/storage"])
})
