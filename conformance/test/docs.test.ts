import { readFileSync } from "node:fs"
import { cases, clauses } from "@sessions/conformance"
import { expect, test } from "vitest"

const page = new URL("../../docs/contract.md", import.meta.url)

test("the contract states every clause once, in the words that a failure quotes, and no other clause", () => {
  const [, section = ""] = /\n## Clauses\n(.*?)\n## /s.exec(readFileSync(page, "utf8")) ?? []
  const stated = Array.from(section.matchAll(/^- \*\*`([^`]+)`\*\* (.*(?:\n {2}.*)*)/gm), ([, id = "", text = ""]) => {
    const words = text.replaceAll(/\s+/g, " ")
    const wanted = Object.entries(clauses).find(([name]) => name === id)?.[1] ?? ""
    return { id, words: words.slice(0, wanted.length) }
  })
  const wanted = Object.entries(clauses).map(([id, words]) => ({ id, words }))
  expect(stated.length).toBe(wanted.length)
  expect(stated).toEqual(expect.arrayContaining(wanted))
})

test("the guide names only cases that exist", () => {
  const guide = readFileSync(new URL("../../docs/writing-an-adapter.md", import.meta.url), "utf8")
  const named = Array.from(guide.matchAll(/`([A-Z]+-\d\d)`/g), ([, id = ""]) => id)
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((id) => cases.every((one) => one.id !== id))).toEqual([])
})
