/**
 * The calls of the SDK's `OpenAIResponsesCompactionSession` (`@openai/agents-openai` 0.20.0): it reads the history, or knows it from its own calls, has
 * it compacted, reads it again, clears the session and adds the output. Others add items at any time.
 */
import { Agent, type AgentInputItem, tool } from "@openai/agents-core"
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { type AgentSession, createAgentSession } from "@sessions/openai-agents"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { runs } from "../../../.config/runs.ts"
import { runner } from "./agents.ts"

let count = 0

/** A question and its answer. */
function turn(): object[] {
  const n = count++
  return [
    { type: "message", role: "user", content: `question ${n}` },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: `answer ${n}` }],
    },
  ]
}

/** The output of `responses.compact`: the questions, as parts, and the compaction. */
function compacted(items: readonly object[]): object[] {
  const questions = items.flatMap((item) =>
    "role" in item && item.role === "user" && "content" in item
      ? [
          {
            ...item,
            content: typeof item.content === "string" ? [{ type: "input_text", text: item.content }] : item.content,
          },
        ]
      : [],
  )
  return [...questions, { type: "compaction", encrypted_content: `of ${count++}` }]
}

/** How many turns others add at each moment; `own`: through the same session object, as a second run does. */
const others = fc.record({ whileCompacting: fc.nat(2), own: fc.nat(1), beforeClear: fc.nat(1), beforeAdd: fc.nat(1) })
const round = fc.record({ turns: fc.nat(2), reads: fc.boolean(), others })

test("what others add while a session is compacted stays behind the compaction, and nothing else comes back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 3 }), async (rounds) => {
      const storage = createMemoryStorage()
      const [session, other] = [0, 1].map(() =>
        createAgentSession<object>({ sessions: createSessions({ storage }), sessionId: "s" }),
      ) as [AgentSession<object>, AgentSession<object>]
      await session.addItems(turn())
      /** What the compacting session knows without a read. */
      let known: object[] | undefined
      for (const { turns, reads, others: more } of rounds) {
        for (let n = 0; n < turns; n++) {
          const added = turn()
          await session.addItems(added)
          known?.push(...added)
        }
        const before = await other.getItems()
        const input: object[] = reads || known === undefined ? await session.getItems() : known
        const unread = before.filter((item) => !input.some((one) => JSON.stringify(one) === JSON.stringify(item)))
        const added: object[] = []
        const add = async (by: AgentSession<object>, times: number): Promise<void> => {
          for (let n = 0; n < times; n++) {
            const items = turn()
            await by.addItems(items)
            added.push(...items)
          }
        }
        await add(other, more.whileCompacting)
        await add(session, more.own)
        await session.getItems()
        await add(other, more.beforeClear)
        await session.clearSession()
        await add(other, more.beforeAdd)
        const output = compacted(input)
        await session.addItems(output)
        expect(await other.getItems()).toEqual([...output, ...unread, ...added])
        known = [...output]
      }
    }),
    { numRuns: runs(15) },
  )
})

test("a session that is cleared, and gets items without a compaction, has these alone", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const [session, other] = [0, 1].map(() => createAgentSession<object>({ sessions, sessionId: "s" })) as [
    AgentSession<object>,
    AgentSession<object>,
  ]
  await session.addItems(turn())
  await session.getItems()
  await other.addItems(turn())
  await session.getItems()
  await session.clearSession()
  const items = turn()
  await session.addItems(items)
  expect(await other.getItems()).toEqual(items)
})

test("what others add in a run whose model compacts stays behind the compaction, though the runner reads the history again before it stores", async () => {
  const storage = createMemoryStorage()
  const [session, other] = [0, 1].map(() =>
    createAgentSession<AgentInputItem>({ sessions: createSessions({ storage }), sessionId: "s" }),
  ) as [AgentSession<AgentInputItem>, AgentSession<AgentInputItem>]
  await session.addItems(turn() as AgentInputItem[])
  const added = turn() as AgentInputItem[]
  const wait = tool({
    name: "wait",
    description: "Others add items meanwhile",
    parameters: z.object({}),
    execute: async () => {
      await other.addItems(added)
      return "done"
    },
  })
  const model = new ScriptedModel([
    [functionCall("wait", {}, { callId: "c1" })],
    [{ type: "compaction", encrypted_content: "E" }, assistantMessage("short")],
  ])
  await runner.run(new Agent({ name: "guide", model, tools: [wait] }), "go on", { session })
  const items = await other.getItems()
  expect(items.slice(0, 2)).toMatchObject([{ type: "compaction" }, { role: "assistant" }])
  expect(items.slice(2)).toEqual(added)
})
