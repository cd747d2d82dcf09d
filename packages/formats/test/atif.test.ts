/** The rules of ATIF. */
import { createSessions, type ModelMessage, type NewEntry } from "@sessions/core"
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

/** What came with 1.7 and 1.8. */
const newest = {
  schema_version: "ATIF-v1.8",
  trajectory_id: "t2",
  agent: { name: "harbor", version: "2", tool_definitions: [{ type: "function", function: { name: "read" } }] },
  steps: [
    { step_id: 1, source: "system", message: "Be brief." },
    {
      step_id: 2,
      ...time(1),
      source: "user",
      message: [
        { type: "text", text: "listen" },
        { type: "audio", source: { media_type: "audio/wav", path: "audio/1.wav", duration_sec: 2.5 } },
      ],
    },
    { step_id: 3, ...time(2), source: "agent", message: "heard", llm_call_count: 1, reasoning_effort: "high" },
    {
      step_id: 4,
      ...time(3),
      source: "system",
      message: "The context was compacted.",
      observation: { results: [{ content: "They listened." }] },
      extra: { context_management: { type: "compaction", boundary: "replace" } },
    },
    {
      step_id: 5,
      ...time(3),
      source: "agent",
      message: "heard",
      is_copied_context: true,
      metrics: { prompt_tokens: 9 },
    },
    {
      step_id: 6,
      ...time(4),
      source: "agent",
      message: "",
      tool_calls: [{ ...call("c"), extra: { retries: 1 } }],
      observation: { results: [{ source_call_id: "c", content: "no such file", extra: { is_error: true } }] },
      metrics: { prompt_tokens: 12, completion_tokens: 1 },
    },
  ],
  subagent_trajectories: [{ trajectory_id: "t3", steps: [] }],
}

const goldens = {
  "a trajectory of 1.8": { text: JSON.stringify(newest) },
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
testConversations(atif, Object.values(goldens), {
  isHistory: true,
  hasContext: true,
  shown: asInSteps,
  judge: checkTrajectory,
})

/** Behind a compaction, its summary is the first step, while a model gets system messages apart. A result has its place in a step with its call. */
function asInSteps(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const calls = new Set<string>()
  const kept = messages.filter((message) => {
    for (const block of message.content) if (block.type === "toolCall") calls.add(block.id)
    return message.role !== "toolResult" || calls.delete(message.toolCallId)
  })
  return [...kept.filter(({ role }) => role === "system"), ...kept.filter(({ role }) => role !== "system")]
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  root: ["schema_version", "session_id", "agent", "steps"],
  any: ["step_id", "timestamp", "source", "message", "observation", "is_copied_context", "extra"],
  agent: ["model_name", "reasoning_content", "tool_calls", "metrics"],
  call: ["tool_call_id", "function_name", "arguments"],
  result: ["source_call_id", "content", "extra"],
}

/** Rows of fields that readers of 1.8 know. They refuse others. */
function expectFields(kinds: readonly string[], row: object): void {
  expect(kinds.flatMap((kind) => FIELDS[kind] ?? [])).toEqual(expect.arrayContaining(Object.keys(row)))
}

/** What readers of 1.8 check: no unknown fields, numbers without gaps, fields of agents on their steps only, results of calls of their step. */
function checkTrajectory(document: unknown): void {
  const root = document as typeof trajectory
  expectFields(["root"], root)
  expect(root.schema_version).toBe("ATIF-v1.8")
  for (const [i, step] of (root.steps as readonly Readonly<Record<string, unknown>>[]).entries()) {
    expect(step["step_id"]).toBe(i + 1)
    expect(["system", "user", "agent"]).toContain(step["source"])
    expectFields(step["source"] === "agent" ? ["any", "agent"] : ["any"], step)
    const calls = (step["tool_calls"] ?? []) as readonly { readonly tool_call_id: string }[]
    for (const one of calls) expectFields(["call"], one)
    const { results } = (step["observation"] ?? { results: [] }) as { results: readonly { source_call_id?: string }[] }
    const ids = calls.map(({ tool_call_id: id }) => id)
    for (const result of results) {
      expectFields(["result"], result)
      if (result.source_call_id !== undefined) expect(ids).toContain(result.source_call_id)
    }
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
  expect(rest).toEqual({ ...old, schema_version: "ATIF-v1.8" })
  expect(steps.slice(0, 4)).toEqual(before)
  expect(steps[4]).toMatchObject({ step_id: 5, source: "user", message: "more" })
})

test("a step that replaces the context begins it anew: its observation is all that a model gets of what is before", async () => {
  const { session, entries } = await importText(atif, { text: JSON.stringify(newest) })
  const rows = (await session.context()).messages.map(({ message }) => [
    message.role,
    message.synthetic === true,
    message.content.map((block) => block["text"] ?? block["name"] ?? block.type),
  ])
  expect(rows).toEqual([
    ["user", true, ["They listened."]],
    ["assistant", false, ["heard"]],
    ["assistant", false, ["read"]],
    ["toolResult", false, ["no such file"]],
  ])
  const audio = entries.flatMap((entry) => (entry.type === "message" ? (entry.message.content ?? []) : []))[2]
  expect(audio).toMatchObject({ type: "atif:part", part: { type: "audio" } })
  expect(entries.at(-1)).toMatchObject({ message: { role: "toolResult", isError: true } })
  // The tokens of a copy were counted before.
  expect((await session.info()).metrics).toMatchObject({ input: 12 })
})

test("a document of an older version is of 1.8 once it has steps of that version", async () => {
  const { session } = await importText(atif, { text: JSON.stringify(trajectory) })
  expect(JSON.parse(await written(atif, session))).toMatchObject({ schema_version: "ATIF-v1.7" })
  await session.append([say("user", "more")])
  expect(JSON.parse(await written(atif, session))).toMatchObject({ schema_version: "ATIF-v1.8" })
  expect(atif.identify(JSON.stringify({ ...trajectory, schema_version: "ATIF-v2.0" }))).toBe(false)
})

test("the last compaction is a step that replaces the context, with copies of what it keeps; what has no place is reported", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const toolCall = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const
  const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const
  await session.append([
    say("user", "a"),
    { type: "message", message: { role: "assistant", content: [thinking, toolCall] } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: true, content: text("x") } },
  ])
  const { ids } = await session.append([say("user", "kept")])
  await session.append([
    { type: "message", message: { role: "toolResult", toolCallId: "gone", isError: false, content: text("y") } },
  ])
  const files = { readFiles: [], modifiedFiles: [] }
  const compaction = { summary: "S", firstKeptEntryId: ids[0] ?? "", tokensBefore: 1, ...files }
  await session.append([{ type: "compaction", ...compaction }, say("assistant", "b")])
  const losses: Loss[] = []
  const document = JSON.parse(await written(atif, session, { note: (loss) => losses.push(loss) })) as typeof trajectory
  checkTrajectory(document)
  const steps = document.steps as readonly Readonly<Record<string, unknown>>[]
  expect(steps.map(({ source, is_copied_context: isCopy = false }) => [source, isCopy])).toEqual([
    ["user", false],
    ["agent", false],
    ["user", false],
    ["system", false],
    ["user", true],
    ["agent", false],
  ])
  expect(steps[1]).toMatchObject({ observation: { results: [{ content: "x", extra: { is_error: true } }] } })
  expect(steps[3]).toMatchObject({ extra: { context_management: { type: "compaction", boundary: "replace" } } })
  expect(JSON.stringify(steps[3])).toContain("S")
  expect(losses.map(({ what, count }) => [what, count])).toEqual([
    ["signatures", 1],
    ["results", 1],
  ])
})

test("a deleted or edited text is in no step, also if a compaction keeps it; a reset at the end is reported", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const { ids } = await session.append([say("user", "first secret"), say("user", "second secret")])
  const files = { readFiles: [], modifiedFiles: [] }
  await session.append({ type: "compaction", summary: "S", firstKeptEntryId: ids[0] ?? "", tokensBefore: 1, ...files })
  await session.tombstone(ids[0] ?? "")
  await session.edit(ids[1] ?? "", { content: text("plain") })
  const file = await written(atif, session)
  expect(file).not.toContain("secret")
  expect(file.split("plain")).toHaveLength(3)
  await session.append({ type: "reset_boundary" })
  const losses: Loss[] = []
  await written(atif, session, { note: (loss) => losses.push(loss) })
  expect(losses.map(({ what }) => what)).toContain("resets")
})

test("an observation is written once, also if a result follows its step", async () => {
  const results = [{ source_call_id: "a", content: "1" }, { content: "what happened" }]
  const calls = [call("a"), call("b")]
  const steps = [{ step_id: 1, source: "agent", message: "", tool_calls: calls, observation: { results } }]
  for (const [id, found] of [
    ["b", [{ content: "1" }, { content: "2" }]],
    ["gone", [{ content: "1" }, { content: "what happened" }]],
  ] as const) {
    const { session } = await importText(atif, { text: JSON.stringify({ ...trajectory, steps }) })
    const message = { role: "toolResult", toolCallId: id, isError: false, content: text("2") } as const
    await session.append([{ type: "message", message }])
    const document = JSON.parse(await written(atif, session)) as typeof trajectory
    expect(JSON.stringify(document).split("what happened"), id).toHaveLength(2)
    expect(document.steps[0]).toMatchObject({ observation: { results: found } })
  }
})
