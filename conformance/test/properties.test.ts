import { checkProperty, registerProperties } from "@sessions/conformance/properties"
import { type Mutant, mutants, soundSubjects } from "@sessions/conformance/mutants"
import { describe, expect, test } from "vitest"

const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)

describe("a correct storage keeps both properties", () => {
  for (const subject of soundSubjects) registerProperties(test, subject, { seed, runs: 40 })
})

/** A fixed seed, because only then is it certain that random input finds the defect. */
const FOUND = { seed: 1, runs: 1_000 }

describe("a wrong storage is found", () => {
  const bySequence = [
    "ignores expect",
    "drops the last line of a batch",
    "acknowledges before it commits",
    "counts characters as bytes",
    "strips a BOM",
    "merges ids that differ in case only",
    "keeps the documents of a deleted session",
    "has one version for all texts of one size",
    "replaces by deleting first",
  ]
  for (const name of bySequence) {
    test(`one that ${name}, by the sequential property`, async () => {
      await expect(checkProperty("sequential", mutantOf(name).subject, FOUND)).rejects.toThrow(/actual/)
    })
  }

  for (const name of ["checks, then writes", "ignores expect"]) {
    test(`one that ${name}, by the interleaved property`, async () => {
      await expect(checkProperty("interleaved", mutantOf(name).subject, FOUND)).rejects.toThrow(/actual/)
    })
  }
})

test("a failure has the shortest input, the expected and the actual result, and the seed and path that repeat it", async () => {
  const { subject } = mutantOf("drops the last line of a batch")
  const error = await checkProperty("sequential", subject, { seed: 7 }).catch((thrown: unknown) => thrown)
  const { message } = error as Error
  expect(message).toMatch(/sequential property drops the last line of a batch: fails after \d+ inputs/)
  expect(message).toMatch(/what +command 0, append/)
  expect(message).toContain('"next":2')
  const [, path] = /path: "([\d:]+)"/.exec(message) ?? []
  const again = checkProperty("sequential", subject, { seed: 7, path: path ?? "" })
  await expect(again).rejects.toThrow(/fails after 1 inputs/)
})

function mutantOf(name: string): Mutant {
  const found = mutants.find(({ subject }) => subject.name === name)
  if (found === undefined) throw new TypeError(`There is no mutant named "${name}".`)
  return found
}
