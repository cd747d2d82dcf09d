/** Responses: calls of OpenAI's own tools are listed, paired and answered; reasoning and what follows it stay together. */
import { type NewEntry, type Session, SessionError, type ToolCallBlock } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toAnthropic } from "../src/anthropic/index.ts"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import { toOpenAIChat } from "../src/openai-chat/index.ts"
import {
  appendOpenAIResponsesStream,
  fromOpenAIResponses,
  hostedResult,
  type OpenAIResponsesOptions,
  toOpenAIResponses,
} from "../src/openai-responses/index.ts"
import { runs } from "../../../.config/runs.ts"
import { newSession } from "./answers.ts"

type Fields = Record<string, unknown>

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })
const answer = (output: readonly object[], more: object = {}) =>
  fromOpenAIResponses({ id: "resp", model: "m", status: "completed", output, ...more })
const rs = (id = "rs_1", more: object = {}) => ({ type: "reasoning", id, summary: [], encrypted_content: "E", ...more })
const text = (id = "msg_1") => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: `text of ${id}`, annotations: [] }],
})
const PNG = "data:image/png;base64,AAAA"

const CALLS: Readonly<Record<string, Fields>> = {
  local_shell_call: {
    type: "local_shell_call",
    id: "lsh_1",
    call_id: "call_1",
    status: "completed",
    action: { type: "exec", command: ["ls"], env: {} },
  },
  shell_call: {
    type: "shell_call",
    id: "sh_1",
    call_id: "call_1",
    status: "completed",
    environment: { type: "local" },
    action: { commands: ["ls"], timeout_ms: null, max_output_length: 4096 },
  },
  apply_patch_call: {
    type: "apply_patch_call",
    id: "apc_1",
    call_id: "call_1",
    status: "completed",
    operation: { type: "delete_file", path: "a" },
  },
  computer_call: {
    type: "computer_call",
    id: "cu_1",
    call_id: "call_1",
    status: "completed",
    pending_safety_checks: [],
    action: { type: "screenshot" },
  },
  tool_search_call: {
    type: "tool_search_call",
    id: "ts_1",
    call_id: "call_1",
    status: "completed",
    execution: "client",
    arguments: { query: "weather" },
  },
  mcp_approval_request: {
    type: "mcp_approval_request",
    id: "mcpr_1",
    name: "send mail",
    server_label: "mail",
    arguments: '{"to":"a"}',
  },
}
const types = Object.keys(CALLS)

async function called(type: string): Promise<{ session: Session; call: ToolCallBlock }> {
  const session = await newSession()
  const said = answer([rs(), CALLS[type] as object])
  await session.append([user("go"), said])
  const [call] = toolCalls(said)
  return { session, call: call as ToolCallBlock }
}

async function inputOf(session: Session, o: OpenAIResponsesOptions = {}): Promise<readonly Fields[]> {
  return toOpenAIResponses(await session.context(), o).request.input
}

test.each(types)("%s: `toolCalls` lists it, and it goes back as it was", async (type) => {
  const { session, call } = await called(type)
  expect(call).toMatchObject({ type: "toolCall", itemType: type, id: CALLS[type]?.["call_id"] ?? CALLS[type]?.["id"] })
  await session.append(toolResult(call, [{ type: "image", mimeType: "image/png", data: "AAAA" }]))
  expect((await inputOf(session)).slice(1, 3)).toEqual([rs(), CALLS[type]])
})

const HEAD = { call_id: "call_1" }
const GIVEN: readonly (readonly [string, object, object])[] = [
  ["local_shell_call", { output: "a.txt" }, { type: "local_shell_call_output", ...HEAD, output: "a.txt" }],
  [
    "shell_call",
    { output: [{ stdout: "a", stderr: "b", outcome: { type: "timeout" } }], max_output_length: 4096 },
    {
      type: "shell_call_output",
      ...HEAD,
      output: [{ stdout: "a", stderr: "b", outcome: { type: "timeout" } }],
      max_output_length: 4096,
    },
  ],
  [
    "apply_patch_call",
    { status: "failed", output: "no such file" },
    { type: "apply_patch_call_output", ...HEAD, status: "failed", output: "no such file" },
  ],
  [
    "computer_call",
    { output: { type: "computer_screenshot", image_url: PNG }, acknowledged_safety_checks: [{ id: "s1" }] },
    {
      type: "computer_call_output",
      ...HEAD,
      output: { type: "computer_screenshot", image_url: PNG },
      acknowledged_safety_checks: [{ id: "s1" }],
    },
  ],
  [
    "tool_search_call",
    { execution: "client", status: "completed", tools: [{ type: "function", name: "w" }] },
    {
      type: "tool_search_output",
      ...HEAD,
      execution: "client",
      status: "completed",
      tools: [{ type: "function", name: "w" }],
    },
  ],
  [
    "mcp_approval_request",
    { approve: true, reason: "mine" },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true, reason: "mine" },
  ],
]

test.each(GIVEN)(
  "%s: `hostedResult` makes its output in the API's own words, which no other provider gets",
  async (type, given, item) => {
    const { session, call } = await called(type)
    await session.append(hostedResult(call, given))
    expect((await inputOf(session)).at(-1)).toEqual(item)
    const context = await session.context()
    for (const { request } of [toAnthropic(context), toOpenAIChat(context), toGemini(context), toAiSdk(context)])
      expect(JSON.stringify(request)).not.toMatch(/native|itemType|acknowledged/)
  },
)

const MADE: readonly (readonly [string, object, object])[] = [
  ["local_shell_call", { output: "done" }, { output: "broken" }],
  [
    "shell_call",
    { output: [{ stdout: "done", stderr: "", outcome: { type: "exit", exit_code: 0 } }], max_output_length: 4096 },
    { output: [{ stdout: "", stderr: "broken", outcome: { type: "exit", exit_code: 1 } }], max_output_length: 4096 },
  ],
  ["apply_patch_call", { status: "completed", output: "done" }, { status: "failed", output: "broken" }],
  ["tool_search_call", { status: "completed", tools: [] }, { status: "completed", tools: [] }],
  ["mcp_approval_request", { approve: false, reason: "done" }, { approve: false, reason: "broken" }],
]

test.each(MADE)(
  "%s: a result of `toolResult` is an output of its shape, with success and failure",
  async (type, done, broken) => {
    for (const [output, isError, item] of [
      ["done", false, done],
      ["broken", true, broken],
    ] as const) {
      const { session, call } = await called(type)
      await session.append(toolResult(call, output, { isError }))
      expect((await inputOf(session)).at(-1)).toMatchObject(item)
    }
  },
)

test("an approval is given by `true` and by nothing else", async () => {
  for (const [output, approve] of [
    [true, true],
    ["ok", false],
    ["", false],
  ] as const) {
    const { session, call } = await called("mcp_approval_request")
    await session.append(toolResult(call, output))
    expect((await inputOf(session)).at(-1)).toMatchObject({ type: "mcp_approval_response", approve })
  }
})

test.each(types)(
  "%s: after a crash before its output the session is sendable, and the change is named",
  async (type) => {
    const { session } = await called(type)
    await session.append(user("hello?"))
    const { request, diagnostics } = toOpenAIResponses(await session.context())
    const input: readonly Fields[] = request.input
    const isLeftOut = type === "computer_call"
    expect(input.map((item) => item["type"])).toEqual(
      isLeftOut
        ? ["message", "message"]
        : ["message", "reasoning", type, expect.stringMatching(/_output$|_response$/), "message"],
    )
    const { messages } = await session.context({ repair: "none" })
    const named = toOpenAIResponses({ messages }).diagnostics
    expect(named.map(({ code }) => code)).toContain(isLeftOut ? "hosted_calls" : "repaired")
    if (isLeftOut) expect(diagnostics[0]?.message).toMatch(/screenshot.*session\.edit.*session\.tombstone/s)
  },
)

test("a computer's call with safety checks needs a result that says that they were seen", async () => {
  const pending = { ...CALLS["computer_call"], pending_safety_checks: [{ id: "s1", code: "c", message: "m" }] }
  for (const [seen, types] of [
    [[], ["message", "message"]],
    [[{ id: "s1" }], ["message", "computer_call", "computer_call_output", "message"]],
  ] as const) {
    const session = await newSession()
    const said = answer([pending])
    const output = { output: { type: "computer_screenshot", image_url: PNG }, acknowledged_safety_checks: seen }
    await session.append([user("go"), said, hostedResult(toolCalls(said)[0] as ToolCallBlock, output), user("and?")])
    expect((await inputOf(session)).map((item) => item["type"])).toEqual(types)
  }
})

test("`hostedResult` for a call of another tool is `invalid`", () => {
  const call: ToolCallBlock = { type: "toolCall", id: "c", name: "shell", arguments: {} }
  expect(() => hostedResult(call, { output: "x" })).toThrow(SessionError)
})

test("an output that was shortened or edited is sent as it is now", async () => {
  const { session, call } = await called("shell_call")
  const outcome = { type: "exit", exit_code: 0 }
  await session.append(hostedResult(call, { output: [{ stdout: "SECRET", stderr: "", outcome }] }))
  const { messages } = await session.context()
  await session.edit(messages.at(-1)?.entryId ?? "", { content: [{ type: "text", text: "gone" }] })
  expect(JSON.stringify(await inputOf(session))).not.toContain("SECRET")
  const native = messages.at(-1)?.message.content[0]
  const shortened = {
    ...messages.at(-1),
    message: { ...messages.at(-1)?.message, content: [{ ...native, text: "SE" }] },
  }
  const input: readonly Fields[] = toOpenAIResponses({ messages: [...messages.slice(0, -1), shortened as never] })
    .request.input
  expect(input.at(-1)).toMatchObject({ output: [{ stdout: "SE", outcome }] })
})

test("a shell that the API runs itself is none of the program's, and goes back with its output or not at all", async () => {
  const run = { ...CALLS["shell_call"], environment: { type: "container_reference", container_id: "cntr_1" } }
  const output = { type: "shell_call_output", id: "sho_1", call_id: "call_1", output: [] }
  for (const [items, sent] of [
    [
      [run, output, text()],
      [run, output, text()],
    ],
    [[run, text()], [text()]],
    [[output, text()], [text()]],
    [[output, run, text()], [text()]],
  ] as const) {
    const said = answer(items)
    expect(toolCalls(said)).toEqual([])
    const session = await newSession()
    await session.append([user("go"), said, user("and?")])
    expect((await inputOf(session)).slice(1, -1)).toEqual(sent)
    const { diagnostics } = toOpenAIResponses(await session.context())
    expect(diagnostics.map(({ code }) => code)).toEqual(items.length === sent.length ? [] : ["hosted_calls"])
  }
})

test("what the API has run itself goes without its ids if the reasoning before it is gone, and both halves go together", async () => {
  const run = { ...CALLS["shell_call"], environment: { type: "container_reference", container_id: "cntr_1" } }
  const output = { type: "shell_call_output", id: "sho_1", call_id: "call_1", output: [] }
  const program = { type: "program", id: "pr_1", call_id: "call_2", code: "1", fingerprint: "f" }
  const ran = { type: "program_output", id: "pro_1", call_id: "call_2", result: "1", status: "completed" }
  const session = await newSession()
  const said = answer([rs("rs_1", { encrypted_content: null }), run, output, program, rs("rs_2"), ran, text()])
  await session.append([user("go"), said, user("and?")])
  const input = (await inputOf(session)).slice(1, -1)
  expect(input.map(({ type, id }) => [type, id])).toEqual([
    ["shell_call", undefined],
    ["shell_call_output", undefined],
    ["message", undefined],
  ])
})

test("a call that the API has run itself has an id of its own among those of the program's", async () => {
  const run = { ...CALLS["shell_call"], environment: { type: "container_reference", container_id: "cntr_1" } }
  const output = { type: "shell_call_output", id: "sho_1", call_id: "call_1", output: [] }
  const call = (n: number) => ({ type: "function_call", id: `fc_${n}`, call_id: "call_1", name: "w", arguments: "{}" })
  const session = await newSession()
  const [before, between, after] = [answer([call(1)]), answer([run, output, text()]), answer([call(2)])]
  const done = toolResult({ id: "call_1", name: "w" }, "ok")
  await session.append([user("go"), before, done, between, after, done])
  const calls = (await inputOf(session)).flatMap(({ type, call_id: id }) => (id === undefined ? [] : [[type, id]]))
  expect(new Set(calls.map(([, id]) => id)).size).toBe(3)
  for (let i = 0; i < calls.length; i += 2)
    expect(calls[i + 1]).toEqual([`${calls[i]?.[0] as string}_output`, calls[i]?.[1]])
})

test("calls that a log has as items are calls, too", async () => {
  const session = await newSession()
  const content = [{ type: "openai:item" as const, item: CALLS["local_shell_call"] }]
  await session.append([user("go"), { type: "message", message: { role: "assistant", provider: "openai", content } }])
  expect((await inputOf(session)).map((item) => item["type"])).toEqual([
    "message",
    "local_shell_call",
    "local_shell_call_output",
  ])
})

test("a call that is streamed is the same as in a whole answer, and one that did not arrive completely is not sent", async () => {
  async function* stream(...events: object[]) {
    for (const event of events) yield event as { type: string }
  }
  const item = CALLS["shell_call"] as Fields
  const begin = { type: "response.created", response: { id: "r", output: [] } }
  const added = { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } }
  const done = { type: "response.output_item.done", output_index: 0, item }
  const completed = { type: "response.completed", response: { id: "r", status: "completed", output: [item] } }
  const session = await newSession()
  const whole = await appendOpenAIResponsesStream(session, stream(begin, added, done, completed))
  expect(toolCalls(whole)).toEqual(toolCalls(answer([item])))
  const cut = await appendOpenAIResponsesStream(await newSession(), stream(begin, added))
  expect(cut.content).toMatchObject([{ type: "providers:partial_call" }])
  const aborted = await appendOpenAIResponsesStream(await newSession(), stream(begin, added, done))
  expect(toolCalls(aborted)).toEqual([])
  expect(aborted.content).toMatchObject([{ type: "toolCall", itemType: "shell_call" }])
})

test("reasoning goes with what follows it, and what follows it without reasoning goes without its id", async () => {
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "w", arguments: "{}", status: "completed" }
  const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } }
  const said = answer([rs("rs_1"), text("msg_1"), rs("rs_2"), search, rs("rs_3"), call])
  const { content } = said.message
  const sentWithout = async (...dropped: number[]) => {
    const session = await newSession()
    const kept = content.filter((_, i) => !dropped.includes(i))
    await session.append([user("go"), { type: "message", message: { ...said.message, content: kept } }])
    return (await inputOf(session)).slice(1).map((item) => item["id"] ?? item["type"])
  }
  expect(await sentWithout()).toEqual(["rs_1", "msg_1", "rs_2", "ws_1", "rs_3", "fc_1", "function_call_output"])
  // Without the text, the reasoning before it is followed by another item than it was.
  expect(await sentWithout(1)).toEqual(["rs_2", "ws_1", "rs_3", "fc_1", "function_call_output"])
  expect(await sentWithout(0)).toEqual(["message", "rs_2", "ws_1", "rs_3", "fc_1", "function_call_output"])
  expect(await sentWithout(2)).toEqual(["rs_1", "msg_1", "rs_3", "fc_1", "function_call_output"])
  expect(await sentWithout(4)).toEqual(["rs_1", "msg_1", "rs_2", "ws_1", "function_call", "function_call_output"])
  expect(await sentWithout(5)).toEqual(["rs_1", "msg_1", "rs_2", "ws_1"])
})

test("reasoning that is a reference goes back while the API keeps it, and never if it stores nothing", async () => {
  const session = await newSession()
  const said = answer([rs("rs_1", { encrypted_content: null }), text()], { created_at: 1_700_000_000 })
  await session.append([user("go"), said, user("and?")])
  const kept = (1_700_000_000 + 30 * 86_400) * 1000
  const context = await session.context()
  const typesAt = (o: OpenAIResponsesOptions) => {
    const { request, diagnostics } = toOpenAIResponses(context, o)
    return [request.input.map(({ type }) => type), diagnostics.map(({ code }) => code)]
  }
  expect(typesAt({ store: true, now: kept - 1 })).toEqual([["message", "reasoning", "message", "message"], []])
  expect(typesAt({ store: true, now: kept })).toEqual([["message", "message", "message"], ["expired"]])
  expect(typesAt({ now: 0 })).toEqual([["message", "message", "message"], ["thinking"]])
  expect((await inputOf(session))[1]).not.toHaveProperty("id")
})

test("reasoning that another program has stored goes back under ids of its own, and not without what is encrypted", async () => {
  const think = (signature: string) => ({ type: "thinking" as const, thinking: "hm", signature })
  const say = (...content: object[]): NewEntry =>
    ({ type: "message", message: { role: "assistant", provider: "openai", content } }) as unknown as NewEntry
  const session = await newSession()
  const yes = { type: "text", text: "yes" }
  await session.append([user("go"), { ...say(think("E1"), think("E2"), yes), id: "a b/ü" }, say(think(""), yes)])
  const { request, diagnostics } = toOpenAIResponses(await session.context())
  const reasoning = request.input.filter(({ type }) => type === "reasoning") as readonly Fields[]
  expect(reasoning.map(({ encrypted_content: encrypted }) => encrypted)).toEqual(["E1", "E2"])
  expect(new Set(reasoning.map(({ id }) => id)).size).toBe(2)
  for (const { id } of reasoning) expect(id).toMatch(/^rs_[a-zA-Z0-9_-]{1,61}$/)
  expect(diagnostics.map(({ code }) => code)).toEqual(["thinking"])
})

test("another provider of this API gets texts and calls, but no reasoning and items", async () => {
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "w", arguments: "{}", status: "completed" }
  const search = { type: "web_search_call", id: "ws_1", status: "completed", action: {} }
  const session = await newSession()
  const said = fromOpenAIResponses({ status: "completed", output: [rs(), search, text(), call] }, { provider: "azure" })
  await session.append([user("go"), said, ...toolCalls(said).map((one) => toolResult(one, "ok"))])
  expect((await inputOf(session)).map((item) => item["id"] ?? item["type"])).toEqual([
    "message",
    "rs_1",
    "ws_1",
    "msg_1",
    "fc_1",
    "function_call_output",
  ])
  const { request, diagnostics } = toOpenAIResponses(await session.context(), { provider: "openai" })
  expect(request.input.map((item) => (item as Fields)["id"] ?? item.type)).toEqual([
    "message",
    "message",
    "function_call",
    "function_call_output",
  ])
  expect(diagnostics.map(({ code }) => code).toSorted((a, b) => a.localeCompare(b))).toEqual(["blocks", "thinking"])
})

test("what a client adds when it parses an answer is not sent", async () => {
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "w", arguments: "{}", parsed_arguments: {} }
  const search = { type: "web_search_call", id: "ws_1", action: { type: "search", query: "q", sources: [] } }
  const parsed = { ...text(), content: [{ type: "output_text", text: "a", annotations: [], parsed: { a: 1 } }] }
  const session = await newSession()
  await session.append([
    user("go"),
    answer([parsed, call, { type: "mcp_list_tools", id: "l", created_by: "x", tools: [] }, search]),
  ])
  expect(JSON.stringify(await inputOf(session))).not.toMatch(/parsed|created_by|sources/)
})

test("an answer that is in a log twice has the ids of its items once", async () => {
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "w", arguments: "{}", status: "completed" }
  const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } }
  const said = answer([rs(), search, text(), call])
  const session = await newSession()
  for (let i = 0; i < 2; i++)
    await session.append([user("go"), said, toolResult(toolCalls(said)[0] as ToolCallBlock, "ok")])
  const input = await inputOf(session)
  const ids = input.flatMap(({ id }) => id ?? [])
  expect(ids).toEqual(["rs_1", "ws_1", "msg_1", "fc_1"])
  expect(input.flatMap(({ call_id: id }) => id ?? [])).toEqual(["c1", "c1", "c1_2", "c1_2"])
  expect(input.filter(({ type }) => type === "message")).toHaveLength(4)
})

test("items with ids and fields that OpenAI does not have go without them, or not at all; another server has them back", async () => {
  const call = { type: "function_call", id: "item_2", call_id: "c1", name: "w", arguments: "{}", metadata: { a: 1 } }
  const said = { ...text("msg_1|x"), metadata: { a: 1 } }
  const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "other" } }
  const output = [{ ...search, id: undefined }, search, rs("item_1"), said, rs(`rs_${"x".repeat(90)}`), call]
  for (const [provider, ids] of [
    ["openai", ["message", "message", "function_call", "function_call_output"]],
    ["proxy", [...output.map((item) => item.id ?? item.type), "function_call_output"]],
  ] as const) {
    const session = await newSession()
    const entry = fromOpenAIResponses({ status: "completed", output }, { provider })
    await session.append([user("go"), entry, toolResult({ id: "c1", name: "w" }, "ok")])
    const input = await inputOf(session)
    expect(input.map((item) => item["id"] ?? item["type"])).toEqual(provider === "openai" ? ids : ["message", ...ids])
    expect(JSON.stringify(input).includes("metadata")).toBe(provider !== "openai")
  }
})

test("of reasoning goes back to OpenAI what it takes, and to the server of an open model its text", async () => {
  const content = [{ type: "reasoning_text", text: "hm" }]
  const full = rs("rs_1", { status: "completed", content })
  for (const [provider, more] of [
    ["openai", {}],
    ["vllm", { content, status: "completed" }],
  ] as const) {
    const session = await newSession()
    const said = fromOpenAIResponses({ status: "completed", output: [full, text()] }, { provider })
    await session.append([user("go"), said, user("and?")])
    expect((await inputOf(session))[1]).toEqual({ ...rs(), ...more })
  }
})

test("ids that are too long are fitted for every kind of call, and its output has the same", () =>
  fc.assert(
    fc.asyncProperty(fc.constantFrom(...types.slice(0, 3)), fc.integer({ min: 1, max: 90 }), async (type, length) => {
      const session = await newSession()
      const said = answer([{ ...CALLS[type], call_id: "x".repeat(length) }])
      await session.append([user("go"), said, toolResult(toolCalls(said)[0] as ToolCallBlock, "ok")])
      const [, call, output] = await inputOf(session)
      expect(call?.["call_id"]).toBe(output?.["call_id"])
      expect(String(call?.["call_id"]).length).toBeLessThanOrEqual(64)
    }),
    { numRuns: runs(10) },
  ))

test("a context without messages is a request with one", () => {
  expect(toOpenAIResponses({ messages: [] }).request.input).toMatchObject([{ role: "user" }])
})
