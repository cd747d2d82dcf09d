/** Storages that fail: nothing is lost, nothing is doubled. */
import { OutputGuardrailTripwireTriggered } from "@openai/agents-core"
import { functionCall } from "@openai/agents-core/testing"
import { createFaultyStorage, type Fault, type FaultyStorage } from "@sessions/conformance/faults"
import { createSessions, type Sessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { type AgentSession, createAgentSession } from "@sessions/openai-agents"
import { expect, test } from "vitest"
import { guardedAgent, runner } from "./agents.ts"
import { failingCallsTests } from "./failing-calls.ts"

const TURN = [
  { type: "message", role: "user", content: "question" },
  { type: "function_call", callId: "c1", name: "look", arguments: "{}" },
  { type: "function_call_result", callId: "c1", name: "look", status: "completed", output: "found" },
]
const OLD = [{ type: "message", role: "user", content: "before" }]

interface Writers {
  readonly faulty: FaultyStorage
  readonly sessions: Sessions
  /** Another process, which sees what is stored. */
  readonly other: () => Sessions
}

/** A storage that may keep the first lines of a batch, as files do. */
function writers(): Writers {
  const location = createMemoryLocation()
  const faulty = createFaultyStorage(createMemoryStorage({ location }), { capabilities: { atomicBatch: "prefix" } })
  const other = (): Sessions => createSessions({ storage: createMemoryStorage({ location }) })
  return { faulty, sessions: createSessions({ storage: faulty }), other }
}

test("a batch of items that a crash has cut off is not part of the history, and a repeated call adds them once", async () => {
  const { faulty, sessions, other } = writers()
  await createAgentSession({ sessions, sessionId: "s" }).addItems(OLD)
  for (let n = 0; n < 20; n++) faulty.fail("append", n === 0 ? "prefix" : "unavailable")
  await expect(createAgentSession({ sessions, sessionId: "s" }).addItems(TURN)).rejects.toMatchObject({
    code: "indeterminate",
  })
  const session = createAgentSession({ sessions: other(), sessionId: "s" })
  expect(await session.getItems()).toEqual(OLD)
  await session.addItems(TURN)
  expect(await session.getItems()).toEqual([...OLD, ...TURN])
  expect(await createAgentSession({ sessions: other(), sessionId: "s" }).getItems()).toEqual([...OLD, ...TURN])
})

test("an addItems whose outcome was unknown is added once by a repeated call, whether it was applied or not", async () => {
  for (const fault of ["response lost", "request lost", "late"] as const) {
    const { faulty, sessions, other } = writers()
    const session = createAgentSession({ sessions, sessionId: "s" })
    await session.addItems(OLD)
    faulty.fail("append", fault, ...Array.from({ length: 20 }, () => "unavailable" as const))
    faulty.fail("read", ...Array.from({ length: 20 }, () => "unavailable" as const))
    faulty.fail("head", ...Array.from({ length: 20 }, () => "unavailable" as const))
    await session.addItems(TURN).catch(() => undefined)
    let tries = 0
    while (tries++ < 40) {
      const history = await createAgentSession({ sessions: other(), sessionId: "s" }).getItems()
      if (history.length > OLD.length && fault !== "response lost") break
      if (
        await session.addItems(TURN).then(
          () => true,
          () => false,
        )
      )
        break
    }
    while (faulty.late > 0) await faulty.deliver()
    expect(await createAgentSession({ sessions: other(), sessionId: "s" }).getItems()).toEqual([...OLD, ...TURN])
  }
})

// One round of the calls.
failingCallsTests(8)

test("a blocked output whose transaction was not answered is in the history once when the run goes on", async () => {
  const { faulty, sessions, other } = writers()
  const open = (opened = sessions): AgentSession => createAgentSession({ sessions: opened, sessionId: "s" })
  const asking = guardedAgent([functionCall("look_up", { place: "a secret" }, { callId: "c1" })])
  const { state } = await runner.run(asking, "Where is it?", { session: open() })
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  // The transaction is the next append. That it took effect cannot be found out.
  const down = Array.from({ length: 20 }, () => "unavailable" as const)
  const loseResponse = (): Fault => {
    for (const operation of ["append", "read", "head"] as const) faulty.fail(operation, ...down)
    return "response lost"
  }
  faulty.fail("append", loseResponse)
  await expect(runner.run(asking, state, { session: open() })).rejects.toThrow(OutputGuardrailTripwireTriggered)
  expect(state.toJSON()).toMatchObject({ pendingSessionHistoryTransaction: { transactionKind: "blocked_append" } })
  const { finalOutput } = await runner.run(asking, state, { session: open(other()) })
  expect(finalOutput).not.toContain("secret")
  const items = await open(other()).getItems()
  expect(items.map(({ type, role }) => role ?? type)).toEqual(["user", "function_call", "function_call_result"])
  expect(JSON.stringify(items[2])).not.toContain("secret")
})
