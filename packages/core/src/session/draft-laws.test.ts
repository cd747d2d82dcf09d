/** The law of drafts, whatever fails: no session, or one with all that was acknowledged, in order, and with a message. */
import { createMemoryLocation } from "@sessions/memory"
import type { Fault } from "@sessions/conformance/faults"
import * as fc from "fast-check"
import { expect, test, vi } from "vitest"
import { holdsAsync } from "../../test/property.ts"
import { createWriter, note, storedIds, user } from "../../test/writers.ts"
import type * as Clock from "../storage/clock.ts"

vi.mock("../storage/clock.ts", async (original) => ({
  ...(await original<typeof Clock>()),
  backoff: async () => undefined,
}))

interface Step {
  readonly makes: readonly (typeof note)[]
  readonly fault: Fault | undefined
  /** The storage does not say what became of a write. */
  readonly isSilent: boolean
  /** A late write arrives. */
  readonly delivers: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  makes: fc.array(fc.constantFrom(note, note, user), { minLength: 1, maxLength: 3 }),
  fault: fc.constantFrom<Fault | undefined>(undefined, "quota", "unavailable", "request lost", "response lost", "late"),
  isSilent: fc.boolean(),
  delivers: fc.boolean(),
})

test("a draft on a failing storage is one session with all that was acknowledged, in order, or none", async () => {
  await holdsAsync(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      const location = createMemoryLocation()
      let weather: Pick<Step, "fault" | "isSilent"> = { fault: undefined, isSilent: false }
      const { sessions, storage } = createWriter(location, {
        faulty: {
          decide: ({ operation }) => {
            if (operation === "append") return weather.fault
            return weather.isSilent ? "corrupt" : undefined
          },
        },
      })
      const draft = await sessions.draft({ id: "s" })
      const acknowledged: string[] = []
      const refused: string[] = []
      let isSpoken = false
      const append = async (makes: Step["makes"], name: string): Promise<void> => {
        const entries = makes.map((make, index) => make("text", `${name}.${index}`))
        const ids = entries.map(({ id }) => id as string)
        isSpoken ||= makes.includes(user)
        await draft.append(entries).then(
          () => acknowledged.push(...ids),
          ({ code }: { code: unknown }) => void (code !== "indeterminate" && refused.push(...ids)),
        )
      }
      for (const [index, { makes, delivers, ...now }] of steps.entries()) {
        weather = now
        await append(makes, String(index))
        if (!isSpoken) expect(location.logs.size).toBe(0)
        if (delivers) await storage.deliver()
      }
      weather = { fault: undefined, isSilent: false }
      await append([user], "last")
      while (storage.late > 0) await storage.deliver()
      const stored = await storedIds(location)
      expect(stored.filter((id) => acknowledged.includes(id))).toEqual(acknowledged)
      expect(stored.filter((id) => refused.includes(id))).toEqual([])
      expect(new Set(stored).size).toBe(stored.length)
    }),
    40,
  )
})
