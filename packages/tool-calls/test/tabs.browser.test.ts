/** Tabs on one IndexedDB that go on with the calls of a turn whose page is gone. */
import { createSessions, hasCode } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import { createToolCalls, type Execution } from "@sessions/tool-calls"
import { expect, test } from "vitest"
import { seed } from "../../core/test/property.ts"
import { closeTabs } from "./closed-tabs.ts"
import { answer, call, codeOf, question, TOOLS } from "./world.ts"

// Slow: two tabs load all modules, and the second one waits for the lease of the first. Many rounds are in closed-tabs.deep.browser.test.ts.
test("after a tab that was closed in its turn the next one knows each call, and charges none twice", async () => {
  const { wrong, closed } = await closeTabs(seed, [1])
  expect(wrong, `SEED=${seed}`).toEqual([])
  expect(closed).toBe(1)
}, 0)

test("of two tabs that resume at once, each call runs in one, and what was charged is not charged again", async () => {
  const database = `tool-calls-${crypto.randomUUID()}`
  const openTab = async () => {
    const sessions = createSessions({ storage: createIndexedDbStorage({ database }) })
    return { sessions, session: await sessions.openOrCreate("s") }
  }
  for (let round = 0; round < 5; round++) {
    const charged: string[] = []
    const blocks = ["a", "b", "c"].map((id) => call(`${id}${round}`))
    const gone = await openTab()
    const first = createToolCalls(gone.session, { tools: TOOLS })
    await gone.session.append([question(), first.record])
    await gone.session.append({ ...answer(...blocks), id: `answer ${round}` })
    const leave = new AbortController()
    const crash = ({ key }: Execution): never => {
      charged.push(key)
      leave.abort(new Error("The page is gone."))
      throw leave.signal.reason
    }
    await codeOf(first.run(call(`a${round}`), crash, { signal: leave.signal }))
    await gone.sessions.close()

    const tabs = await Promise.all([openTab(), openTab()])
    const charge = ({ key }: Execution): string => `charge ${charged.push(key)}`
    await Promise.all(
      tabs.map(async ({ session }) => {
        const onUnknown = ({ key = "" }) => (charged.includes(key) ? { output: "charged" } : undefined)
        const calls = createToolCalls(session, { tools: TOOLS, onUnknown })
        await Promise.all([
          calls.resume({ charge }),
          ...blocks.map((block) =>
            calls.run(block, charge).catch((error: unknown) => {
              if (!hasCode(error, "conflict")) throw error
            }),
          ),
        ])
      }),
    )
    const last = await openTab()
    const states = (await last.session.callStates())?.calls.map(({ state }) => state)
    expect(states).toEqual(["done", "done", "done"])
    expect(charged.length).toBe(3)
    expect(new Set(charged).size).toBe(3)
    for (const { sessions } of [...tabs, last]) await sessions.close()
  }
})
