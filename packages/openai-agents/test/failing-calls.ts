/** Calls on a storage of which one call fails, at each place in turn. */
import { isDeepStrictEqual } from "node:util"
import { createFaultyStorage, type Fault } from "@sessions/conformance/faults"
import { createSessions, hasCode, type Sessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createAgentSession } from "@sessions/openai-agents"
import { expect, test } from "vitest"
import { call, historiesAfter, isAdding, isRepeatable } from "./calls.ts"

/** `calls`: a round of them is 8, see `calls.ts`. */
export function failingCallsTests(calls: number): void {
  test.each(["unavailable", "request lost", "response lost", "prefix"] as const)(
    "if any call of the storage answers `%s`, each change is in the history once or not at all, and repeated ones count once",
    async (fault) => {
      const histories = await historiesAfter(calls)
      let isPast = false
      for (let failing = 0; !isPast; failing++) {
        const location = createMemoryLocation()
        let made = 0
        const decide = (): Fault | undefined => (made++ === failing ? fault : undefined)
        const faulty = createFaultyStorage(createMemoryStorage({ location }), {
          capabilities: { atomicBatch: "prefix" },
          decide,
        })
        const open = (): Sessions => createSessions({ storage: createMemoryStorage({ location }) })
        const session = createAgentSession<object>({ sessions: createSessions({ storage: faulty }), sessionId: "s" })
        const stored = (): Promise<object[]> => createAgentSession({ sessions: open(), sessionId: "s" }).getItems()
        for (let n = 0; n < calls; n++) {
          let isDone = await settles(call(session, n))
          // Before the failure all is as without one.
          const items = made > failing ? await stored() : histories[n + 1]
          if (isDone) expect(items).toEqual(histories[n + 1])
          else expect([histories[n], histories[n + 1]]).toContainEqual(items)
          // A transaction may be repeated at any time, an `addItems` whose outcome was unknown too; others only if they were not applied.
          const isUndone = !isDone && (isAdding(n) || isDeepStrictEqual(items, histories[n]))
          if (isRepeatable(n) || isUndone)
            isDone = (await settles(call(session, n))) || (await settles(call(session, n)))
          if (isRepeatable(n) || isUndone) expect(isDone).toBe(true)
          if (made > failing) expect(await stored()).toEqual(histories[n + 1])
        }
        isPast = made <= failing
        expect(failing).toBeLessThan(1_000)
      }
    },
  )
}

/** Whether the call resolves; other errors than those of the storage fail the test. */
async function settles(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (hasCode(error, "indeterminate") || hasCode(error, "unavailable")) return false
    throw error
  }
}
