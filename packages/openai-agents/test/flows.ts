/** The SDK's own runner with a scripted model over our session, on one storage. */
import {
  type AgentInputItem,
  MemorySession,
  OutputGuardrailTripwireTriggered,
  RunState,
  type Session,
} from "@openai/agents-core"
import { assistantMessage, functionCall, type ScriptedModel } from "@openai/agents-core/testing"
import { createAgentSession } from "@sessions/openai-agents"
import { afterEach, expect, test } from "vitest"
import { agentWith, askingAgent, guardedAgent, runner } from "./agents.ts"
import { type Location, openLocation, type StorageName } from "./open-storages.ts"

let location: Location | undefined
afterEach(async () => {
  await location?.close()
  location = undefined
})

/** The flow over a session of ours, each run in another writer, and over the SDK's own session: both must have the same items. */
export async function bothWays(
  name: StorageName,
  flow: (open: () => Session) => Promise<void>,
): Promise<AgentInputItem[]> {
  location = await openLocation(name)
  const place = location
  const sessionId = "a chat / 42"
  const reference = new MemorySession({ sessionId })
  await flow(() => reference)
  await flow(() => createAgentSession<AgentInputItem>({ sessions: place.open(), sessionId }))
  const items = await createAgentSession<AgentInputItem>({ sessions: place.open(), sessionId }).getItems()
  // Ids that the SDK makes up differ between the runs.
  expect(items.map(withoutId)).toEqual((await reference.getItems()).map(withoutId))
  return items
}

function withoutId(item: AgentInputItem): object {
  return { ...item, id: undefined }
}

export function flowTests(name: StorageName): void {
  test(`runs with tools, one after the other, see the history of the runs before, on ${name}`, async () => {
    const items = await bothWays(name, async (open) => {
      const first = agentWith(
        [functionCall("look_up", { place: "Paris" }, { callId: "c1" })],
        [assistantMessage("In France.")],
      )
      await runner.run(first, "Where is Paris?", { session: open() })
      const second = agentWith([assistantMessage("You asked about Paris.")])
      await runner.run(second, "What did I ask?", { session: open() })
      expect((second.model as ScriptedModel).lastCall?.request.input).toHaveLength(5)
    })
    expect(items.map(({ type, ...item }) => ("role" in item ? item.role : type))).toEqual([
      "user",
      "function_call",
      "function_call_result",
      "assistant",
      "user",
      "assistant",
    ])
  })

  test(`a run that waits for approval is resumed by another process, on ${name}`, async () => {
    const items = await bothWays(name, async (open) => {
      const asking = askingAgent([functionCall("look_up", { place: "Paris" }, { callId: "c1" })])
      const waiting = await runner.run(asking, "Where is Paris?", { session: open() })
      expect(waiting.interruptions).toHaveLength(1)
      const text = waiting.state.toString()

      const resumed = askingAgent([assistantMessage("In France.")])
      const state = await RunState.fromString(resumed, text)
      for (const interruption of state.getInterruptions()) state.approve(interruption)
      const result = await runner.run(resumed, state, { session: open() })
      expect(result.finalOutput).toBe("In France.")
    })
    expect(items).toHaveLength(4)
  })

  test(`a tool output that a guardrail blocks is replaced in the history by one transaction, on ${name}`, async () => {
    const items = await bothWays(name, async (open) => {
      const asking = guardedAgent([functionCall("look_up", { place: "a secret" }, { callId: "c1" })])
      const waiting = await runner.run(asking, "Where is it?", { session: open() })
      const resumed = guardedAgent()
      const state = await RunState.fromString(resumed, waiting.state.toString())
      for (const interruption of state.getInterruptions()) state.approve(interruption)
      const blocked = runner.run(resumed, state, { session: open() })
      await expect(blocked).rejects.toThrow(OutputGuardrailTripwireTriggered)
    })
    expect(items).toHaveLength(3)
    expect(items[2]).toMatchObject({ type: "function_call_result", callId: "c1" })
    expect(JSON.stringify(items[2])).not.toContain("secret")
  })

  test(`a compaction in the model's output replaces the history in one append, on ${name}`, async () => {
    const items = await bothWays(name, async (open) => {
      await runner.run(agentWith([assistantMessage("one")]), "first", { session: open() })
      const compaction = { type: "compaction", encrypted_content: "opaque" } as const
      const session = open()
      await runner.run(agentWith([compaction, assistantMessage("two")]), "second", { session })
    })
    expect(items[0]).toMatchObject({ type: "compaction", encrypted_content: "opaque" })
  })

  test(`two processes that run at once leave one history with the turns of both, on ${name}`, async () => {
    location = await openLocation(name)
    const place = location
    const sessionId = "s"
    const turns = 4
    const process = async (writer: string): Promise<void> => {
      const session = createAgentSession<AgentInputItem>({ sessions: place.open(), sessionId })
      for (let turn = 0; turn < turns; turn++) {
        const agent = agentWith(
          [functionCall("look_up", { place: "Paris" }, { callId: `${writer}${turn}` })],
          [assistantMessage(`to ${writer}${turn}`)],
        )
        await runner.run(agent, `${writer}${turn}`, { session })
      }
    }
    await Promise.all([process("a"), process("b")])
    const sessions = place.open()
    const items = await createAgentSession<AgentInputItem>({ sessions, sessionId }).getItems()
    expect(items).toHaveLength(turns * 2 * 4)
    // Each turn is whole.
    for (let at = 0; at < items.length; at += 4) {
      const [question, call, result, answer] = items.slice(at, at + 4) as [AgentInputItem, ...AgentInputItem[]]
      const name = (question as { content: string }).content
      expect(call).toMatchObject({ type: "function_call", callId: name })
      expect(result).toMatchObject({ type: "function_call_result", callId: name })
      expect(answer).toMatchObject({ role: "assistant", content: [{ text: `to ${name}` }] })
    }
    const { sessions: listed } = await sessions.list()
    expect(listed[0]?.openTips).toEqual({ tips: [] })
  })
}
