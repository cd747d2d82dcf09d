import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { holdsAsync } from "../../test/property.ts"
import { oneByOne } from "./one-by-one.ts"

async function* runsOf(runs: readonly (readonly number[])[], ended: { value: boolean }) {
  try {
    for (const run of runs) {
      await Promise.resolve()
      yield run
    }
  } finally {
    ended.value = true
  }
}

describe("the iterator over runs", () => {
  test("gives all items in order, however many are requested at once", async () => {
    await holdsAsync(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(), { maxLength: 4 })),
        fc.integer({ min: 1, max: 5 }),
        async (runs, n) => {
          const items = oneByOne(runsOf(runs, { value: false }))[Symbol.asyncIterator]()
          const seen: number[] = []
          for (;;) {
            const results = await Promise.all(Array.from({ length: n }, () => items.next()))
            for (const { done, value } of results) if (done !== true) seen.push(value)
            if (results.some(({ done }) => done)) break
          }
          expect(seen).toEqual(runs.flat())
          expect(await items.next()).toEqual({ done: true, value: undefined })
        },
      ),
      100,
    )
  })

  test("ends the runs when it is left early, and gives nothing afterwards", async () => {
    const ended = { value: false }
    const items = oneByOne(runsOf([[1, 2, 3], [4]], ended))
    for await (const item of items) {
      expect([item, ended.value]).toEqual([1, false])
      break
    }
    expect(ended.value).toBe(true)
    for await (const item of items) expect.unreachable(`${item} was given`)
  })

  test("rejects with the error of a run, at its position", async () => {
    async function* broken() {
      yield [1]
      throw new Error("the disk is gone")
    }
    const items = oneByOne(broken())[Symbol.asyncIterator]()
    const results = await Promise.allSettled([items.next(), items.next(), items.next()])
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect(results[2]).toMatchObject({ value: { done: true } })
  })
})
