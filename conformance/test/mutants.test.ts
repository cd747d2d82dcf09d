import { run } from "@sessions/conformance"
import { describe, expect, test } from "vitest"
import { mutants } from "./mutants/index.ts"
import { crashing, faulty, looksForItsOwn, plain, refusesWhole, tearing } from "./variants.ts"

const options = { timeLimit: 1_500, sizes: { patience: 100, limitBytes: 1_000_000 } }

describe("a storage that is wrong fails the cases named for it", () => {
  for (const { subject, fails } of mutants) {
    test(`one that ${subject.name}`, async () => {
      const { results } = await run(subject, { ...options, only: fails })
      expect(results.filter(({ status }) => status === "failed").map(({ id }) => id)).toEqual(
        results.map(({ id }) => id),
      )
    })
  }
})

describe("what the wrong ones are made from passes every case", () => {
  const sound = [
    plain,
    tearing("tearing", (_, lines) => lines),
    crashing("crashing", false),
    faulty("faulty", looksForItsOwn, refusesWhole),
  ]
  for (const subject of sound) {
    test(`the ${subject.name} one`, async () => {
      const { results } = await run(subject, { ...options, sizes: { ...options.sizes, patience: 5_000 } })
      expect(results.flatMap(({ failure }) => failure?.message ?? [])).toEqual([])
    })
  }
})
