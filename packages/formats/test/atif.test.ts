/** The rules of ATIF. */
import { createSessions, type NewEntry } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { atif } from "../src/atif/index.ts"
import { testConversations } from "./conversation-laws.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"

const time = (n: number) => ({ timestamp: `2026-01-31T09:30:0${n}Z` })
const call = (id: string) => ({ tool_call_id: id, function_name: "read", arguments: { path: id } })
const trajectory = {
  schema_version: "ATIF-v1.7",
  session_id: "s1",
  agent: { name: "harbor", version: "1", model_name: "m", extra: { mood: "good" } },
  steps: [
    { step_id: 1, source: "system", message: "Be brief." },
    { step_id: 2, ...time(1), source: "user", message: [{ type: "text", text: "look" }] },
    {
      step_id: 3,
      ...time(2),
      source: "agent",
      model_name: "m",
      message: "ok",
      reasoning_content: "hm",
      tool_calls: [call("a"), call("b")],
      observation: {
        results: [
          { source_call_id: "a", content: "1" },
          { source_call_id: "b", content: "2", extra: {} },
        ],
      },
      metrics: { prompt_tokens: 10, completion_tokens: 2, cached_tokens: 4, cost_usd: 0.5 },
    },
    { step_id: 4, ...time(3), source: "agent", message: "done", observation: { results: [{ content: "$ " }] } },
  ],
  notes: "n",
  final_metrics: { total_steps: 4 },
}

const goldens = {
  "a trajectory": { text: JSON.stringify(trajectory, undefined, 2) },
  "one with a step without a number": {
    text: JSON.stringify({ ...trajectory, steps: [...trajectory.steps, { source: "user", message: "on" }] }),
  },
  "one with a step of an unknown source": {
    text: JSON.stringify({ ...trajectory, steps: [...trajectory.steps, { step_id: 5, source: "x", message: "" }] }),
  },
}
testLaws(atif, goldens)
testFixtures(atif)
testConversations(atif, Object.values(goldens), { isHistory: true, judge: checkTrajectory })

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  root: ["schema_version", "session_id", "agent", "steps"],
  any: ["step_id", "timestamp", "source", "message"],
  agent: ["model_name", "reasoning_content", "tool_calls", "observation", "metrics"],
}

/** What readers of 1.7 check: no unknown fields, numbers without gaps, fields of agents on their steps only, results of calls of their step. */
function checkTrajectory(document: unknown): void {
  const root = document as typeof trajectory
  expect(FIELDS["root"]).toEqual(expect.arrayContaining(Object.keys(root)))
  expect(root.schema_version).toBe("ATIF-v1.7")
  for (const [i, step] of (root.steps as readonly Readonly<Record<string, unknown>>[]).entries()) {
    expect(step["step_id"]).toBe(i + 1)
    expect(["system", "user", "agent"]).toContain(step["source"])
    const allowed = [...(FIELDS["any"] ?? []), ...(step["source"] === "agent" ? (FIELDS["agent"] ?? []) : [])]
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(step)))
    const calls = (step["tool_calls"] ?? []) as readonly { readonly tool_call_id: string }[]
    const { results } = (step["observation"] ?? { results: [] }) as { results: readonly { source_call_id: string }[] }
    const ids = calls.map(({ tool_call_id: id }) => id)
    for (const { source_call_id: id } of results) expect(ids).toContain(id)
  }
}

test("a step of the agent has thinking, calls, their results and usage without cached tokens", async () => {
  const { entries, session } = await importText(atif, { text: JSON.stringify(trajectory) })
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  const roles = ["system", "user", "assistant", "toolResult", "toolResult", "assistant", "user"]
  expect(messages.map(({ role }) => role)).toEqual(roles)
  expect(messages[2]).toMatchObject({
    model: "m",
    usage: { input: 6, output: 2, cacheRead: 4, cost: 0.5 },
    content: [{ thinking: "hm" }, { text: "ok" }, { id: "a", arguments: { path: "a" } }, { id: "b" }],
  })
  expect(messages[3]).toMatchObject({ toolCallId: "a", toolName: "read" })
  expect(messages[6]).toEqual({ role: "user", content: [{ type: "text", text: "$ " }], synthetic: true })
  expect(session.header).toMatchObject({ timestamp: "2026-01-31T09:30:01Z", origin: { id: "s1" } })
})

const text = (value: string) => [{ type: "text", text: value }] as const
const say = (role: "user" | "assistant", value: string): NewEntry => ({
  type: "message",
  message: { role, content: text(value) },
})

test("appended messages are steps after those of the file, with the next numbers", async () => {
  const { session } = await importText(atif, { text: JSON.stringify(trajectory) })
  await session.append([say("user", "more")])
  const { steps, ...rest } = JSON.parse(await written(atif, session)) as typeof trajectory
  const { steps: before, ...old } = trajectory
  expect(rest).toEqual(old)
  expect(steps.slice(0, 4)).toEqual(before)
  expect(steps[4]).toMatchObject({ step_id: 5, source: "user", message: "more" })
})

test("a compaction is a system step between all messages, and what has no place is reported", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const toolCall = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const
  const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const
  await session.append([
    say("user", "a"),
    { type: "message", message: { role: "assistant", content: [thinking, toolCall] } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: true, content: text("x") } },
    { type: "message", message: { role: "toolResult", toolCallId: "gone", isError: false, content: text("y") } },
  ])
  const kept = session.leafId ?? ""
  const compaction = { summary: "S", firstKeptEntryId: kept, tokensBefore: 1, readFiles: [], modifiedFiles: [] }
  await session.append([{ type: "compaction", ...compaction }, say("assistant", "b")])
  const losses: Loss[] = []
  const document = JSON.parse(await written(atif, session, { note: (loss) => losses.push(loss) })) as typeof trajectory
  checkTrajectory(document)
  expect(document.steps.map(({ source }) => source)).toEqual(["user", "agent", "system", "agent"])
  expect(losses.map(({ what, count }) => [what, count])).toEqual([
    ["signatures", 1],
    ["errors", 1],
    ["results", 1],
  ])
})
