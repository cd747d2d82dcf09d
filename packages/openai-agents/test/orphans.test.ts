/** Calls whose results a crash has taken: the SDK's runner gives its model none of them, and the history keeps all. */
import type { AgentInputItem } from "@openai/agents-core"
import { assistantMessage, type ScriptedModel } from "@openai/agents-core/testing"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { type AgentRepair, createAgentSession } from "@sessions/openai-agents"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { agentWith, runner } from "./agents.ts"
import { hosted, kinds, question, reasoning } from "./items.ts"

type Kind = keyof typeof kinds
const step = fc.record({
  kind: fc.constantFrom(...(Object.keys(kinds) as Kind[]), undefined),
  thinks: fc.boolean(),
  isAnswered: fc.boolean(),
})

test("a model gets each call that has its result, and no other one with the reasoning before it, whatever kind it is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const sessions = createSessions({ storage: createMemoryStorage() })
      const items: object[] = [question("go")]
      const expected: object[] = [question("go")]
      for (const [n, { kind, thinks, isAnswered }] of steps.entries()) {
        const [call, ...result] =
          kind === undefined ? [hosted(`c${n}`, isAnswered ? "completed" : "in_progress")] : kinds[kind](`c${n}`)
        const all = [...(thinks ? [reasoning(`rs_${n}`)] : []), call, ...(isAnswered ? result : [])]
        // Nothing is between an answer and the reasoning of the next step, which a call that is left out would take along.
        const end = assistantMessage(`said ${n}`) as object
        items.push(...all, end)
        expected.push(...(isAnswered ? all : []), end)
      }
      const repairs: AgentRepair[] = []
      const onRepair = (repair: AgentRepair): void => void repairs.push(repair)
      const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "s", onRepair })
      await session.addItems(items as AgentInputItem[])
      const stored = await session.getItems()
      expect(stored).toEqual(JSON.parse(JSON.stringify(items)))
      const agent = agentWith([assistantMessage("yes")])
      await runner.run(agent, "next", { session })
      const { input } = (agent.model as ScriptedModel).lastCall?.request ?? {}
      expect(input).toEqual([...(JSON.parse(JSON.stringify(expected)) as object[]), question("next")])
      expect((await session.getItems()).slice(0, stored.length)).toEqual(stored)
      const ofRunner: readonly unknown[] = ["function", "apply patch", "computer"]
      const left = steps.filter(({ kind, isAnswered }) => !isAnswered && !ofRunner.includes(kind))
      expect(repairs).toHaveLength(left.length)
      for (const { item, message } of repairs) {
        expect(items).toContainEqual(item)
        expect(message).toMatch(
          /^The call ".+ c\d" of the session "s" is left out of what a model gets, because it has no result/,
        )
      }
    }),
    { numRuns: runs(12) },
  )
})
