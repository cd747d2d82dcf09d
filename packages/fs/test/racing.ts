/** Appends that race. */
import type { Head } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { fill, linesOf, makeRoot, openAt } from "./helpers.ts"

export function racingTest(rounds: number): void {
  test(`of 32 appends after one head exactly one stands, whoever makes them, ${rounds} times`, async () => {
    const root = makeRoot()
    const { storage } = openAt(root)
    const storages = [storage, openAt(root).storage, openAt(root).storage]
    let head: Head | undefined = await fill(storage, "a", 1)
    for (let round = 0; round < rounds; round++) {
      const expected = head as Head
      const racing = Array.from({ length: 32 }, async (_, i) => {
        try {
          return await (storages[i % 3] ?? storage).append("a", [`${round}-${i}`], { expect: expected })
        } catch (error) {
          return (error as { code: string }).code
        }
      })
      const outcomes = await Promise.all(racing)
      const winners = outcomes.filter((outcome) => typeof outcome === "object")
      expect(winners).toHaveLength(1)
      expect(new Set(outcomes.filter((outcome) => typeof outcome !== "object"))).toEqual(new Set(["conflict"]))
      head = winners[0]
    }
    expect(await linesOf(storage, "a")).toHaveLength(rounds + 1)
  })
}
