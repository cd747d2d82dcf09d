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

type Pair = readonly [call: object, result: object]

/** A call of each kind under an id, and its result. */
const kinds = {
  function: (callId: string): Pair => [
    { type: "function_call", callId, name: "look_up", arguments: "{}", status: "completed" },
    { type: "function_call_result", callId, name: "look_up", status: "completed", output: { type: "text", text: "x" } },
  ],
  shell: (callId: string): Pair => [
    { type: "shell_call", callId, status: "in_progress", action: { commands: ["ls"] } },
    {
      type: "shell_call_output",
      callId,
      output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
    },
  ],
  "shell without a status": (callId: string): Pair => [
    { type: "shell_call", callId, action: { commands: ["ls"] } },
    { type: "shell_call_output", callId, output: [] },
  ],
  "apply patch": (callId: string): Pair => [
    { type: "apply_patch_call", callId, status: "completed", operation: { type: "delete_file", path: "a" } },
    { type: "apply_patch_call_output", callId, status: "completed", output: "done" },
  ],
  computer: (callId: string): Pair => [
    { type: "computer_call", callId, status: "completed", action: { type: "screenshot" } },
    {
      type: "computer_call_result",
      callId,
      output: { type: "computer_screenshot", data: "https://example.org/a.png" },
    },
  ],
  "local shell": (call_id: string): Pair => [
    { type: "unknown", id: call_id, providerData: { type: "local_shell_call", call_id, action: {} } },
    { type: "unknown", id: `o${call_id}`, providerData: { type: "local_shell_call_output", call_id, output: "a" } },
  ],
  "an approval of MCP": (id: string): Pair => [
    {
      type: "hosted_tool_call",
      id,
      name: "mcp_approval_request",
      providerData: { type: "mcp_approval_request", id, server_label: "s", name: "n", arguments: "{}" },
    },
    {
      type: "hosted_tool_call",
      name: "mcp_approval_response",
      providerData: { type: "mcp_approval_response", approve: true, approval_request_id: id },
    },
  ],
  "tool search of the client": (callId: string): Pair => [
    { type: "tool_search_call", id: callId, callId, execution: "client", status: "completed", arguments: {} },
    { type: "tool_search_output", id: `o${callId}`, callId, execution: "client", status: "completed", tools: [] },
  ],
}

/** Complete by themselves, or not at all. */
const hosted = (id: string, status: string): object => ({
  type: "hosted_tool_call",
  id,
  name: "web_search_call",
  status,
  providerData: { type: "web_search_call", action: { type: "search", query: "q" } },
})

const reasoning = (id: string): object => ({
  type: "reasoning",
  id,
  content: [],
  providerData: { encrypted_content: "E" },
})
const question = (text: string): object => ({ type: "message", role: "user", content: text })

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
        const all = [...(thinks ? [reasoning(`r${n}`)] : []), call, ...(isAnswered ? result : [])]
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
        expect(message).toMatch(/^The call ".+ c\d" of the session "s" has no result/)
      }
    }),
    { numRuns: runs(25) },
  )
})
