import { cases } from "@sessions/conformance"
import { checkMutant, checkSound, mutants, soundSubjects } from "@sessions/conformance/mutants"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"

test("every case is named by a mutant, and every mutant names a case", () => {
  const named = new Set(mutants.flatMap(({ fails }) => fails))
  expect(cases.filter(({ id }) => !named.has(id)).map(({ id }) => id)).toEqual([])
  expect(mutants.filter(({ fails }) => fails.length === 0).map(({ subject }) => subject.name)).toEqual([])
})

test("mutants have unique names", () => {
  expect(new Set(mutants.map(({ subject }) => subject.name)).size).toBe(mutants.length)
})

describe("the correct storages that mutants are made from pass every case", () => {
  for (const subject of soundSubjects) {
    test(`the ${subject.name} one`, async () => {
      expect((await checkSound(subject)).map(({ message }) => message)).toEqual([])
    })
  }
})

describe("a verdict", () => {
  const sound = { name: "sound", makeLocation: createMemoryLocation, open: createOn }

  test("of a correct storage names the cases that it should have failed", async () => {
    expect(await checkMutant({ subject: sound, fails: ["CREATE-01"] })).toEqual({
      mutant: "sound",
      killed: false,
      missing: ["CREATE-01"],
      unexpected: [],
    })
  })

  test("has the failures that the mutant does not name", async () => {
    const blobless = {
      ...sound,
      open: (location: Location) => {
        const storage = createOn(location)
        return { ...storage, blobs: { ...storage.blobs, has: async () => false } }
      },
    }
    const verdict = await checkMutant({ subject: blobless, fails: ["HEAD-02"] })
    expect(verdict.killed).toBe(false)
    expect(verdict.unexpected.map(({ message }) => message.slice(0, 5))).toContain("BLOBS")
  })
})

type Location = ReturnType<typeof createMemoryLocation>

function createOn(location: Location): ReturnType<typeof createMemoryStorage> {
  return createMemoryStorage({ location })
}
