/** A call of a tool that the provider runs itself is in a request with its result only, unless the provider is about to make it. */
import type { NewEntry, Session } from "@sessions/core"
import { describe, expect, test } from "vitest"
import { fromAiSdk, toAiSdk } from "../src/ai-sdk/index.ts"
import { accumulateAnthropic, fromAnthropic, toAnthropic } from "../src/anthropic/index.ts"
import { fromGemini, type GeminiOptions, toGemini } from "../src/gemini/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import { newSession } from "./answers.ts"

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })
const answer = (stopReason: string, ...content: readonly object[]) =>
  fromAnthropic({ content, stop_reason: stopReason })
const text = (value: string) => ({ type: "text", text: value })
const hosted = (type: string, id: string) => ({ type, id, name: "search", input: { query: "q" } })
const resultOf = (type: string, id: string) => ({ type, tool_use_id: id, content: [] })
const own = (id: string, more: object = {}) => ({ type: "tool_use", id, name: "read", input: {}, ...more })

async function sessionOf(...entries: readonly NewEntry[]): Promise<Session> {
  const session = await newSession()
  for (const entry of entries) await session.append(entry)
  return session
}
async function told(session: Session, now = 0) {
  const { request, diagnostics } = toAnthropic(await session.context(), { now })
  const blocks = request.messages.flatMap(({ role, content }) =>
    typeof content === "string" ? [`${role}:text`] : content.map(({ type }) => `${role}:${type}`),
  )
  return { request, blocks, codes: diagnostics.map(({ code }) => code), diagnostics }
}

const KINDS = [
  ["server_tool_use", "web_search_tool_result"],
  ["server_tool_use", "bash_code_execution_tool_result"],
  ["mcp_tool_use", "mcp_tool_result"],
] as const

describe.each(KINDS)("Anthropic: %s with %s", (call, result) => {
  test("a second call with the id of one that has its result is left out, also beside a call of the program", async () => {
    const twice = [hosted(call, "s1"), resultOf(result, "s1"), own("c1"), hosted(call, "s1")]
    expect(await told(await sessionOf(user("q"), answer("tool_use", ...twice)))).toMatchObject({
      blocks: ["user:text", `assistant:${call}`, `assistant:${result}`, "assistant:tool_use", "user:tool_result"],
      codes: ["hosted_calls"],
    })
  })

  test.each(["end_turn", "max_tokens", "refusal", "aborted", "error"])(
    "goes with its half, and alone is left out after %s",
    async (stopReason) => {
      const cut = (...content: readonly object[]): NewEntry => {
        const { type, message } = answer("end_turn", text("I search"), ...content)
        return { type, message: { ...message, stopReason } }
      }
      const whole = await sessionOf(user("q"), cut(hosted(call, "s1"), resultOf(result, "s1")), user("next"))
      expect(await told(whole)).toMatchObject({
        blocks: ["user:text", "assistant:text", `assistant:${call}`, `assistant:${result}`, "user:text"],
        codes: [],
      })
      const session = await sessionOf(user("q"), cut(hosted(call, "s1")), user("next"))
      const { blocks, codes, diagnostics } = await told(session)
      expect(blocks).toEqual(["user:text", "assistant:text", "user:text"])
      expect(codes).toEqual(["hosted_calls"])
      expect(diagnostics[0]?.message).toMatch(/session\.edit.*session\.tombstone/)
      const orphan = await sessionOf(user("q"), cut(resultOf(result, "s1")), user("next"))
      expect(await told(orphan)).toMatchObject({
        blocks: ["user:text", "assistant:text", "user:text"],
        codes: ["hosted_calls"],
      })
    },
  )

  test("that the API has paused goes back to be continued, and its result may be in the next answer", async () => {
    const session = await sessionOf(user("q"), answer("pause_turn", text("I search"), hosted(call, "s1")))
    const paused = await told(session)
    expect(paused).toMatchObject({ blocks: ["user:text", "assistant:text", `assistant:${call}`], codes: [] })
    await session.append(answer("end_turn", resultOf(result, "s1"), text("found")))
    const after = await told(session)
    expect(after.blocks.slice(0, 6)).toEqual([...paused.blocks, `assistant:${result}`, "assistant:text", "user:text"])
    const before = paused.request.messages[1]?.content ?? []
    expect(after.request.messages[1]?.content.slice(0, before.length)).toEqual(before)
    const left = await sessionOf(user("q"), answer("pause_turn", text("I search"), hosted(call, "s1")), user("stop"))
    expect(await told(left)).toMatchObject({
      blocks: ["user:text", "assistant:text", "user:text"],
      codes: ["hosted_calls"],
    })
  })

  test("that waits for a tool of the program stays with the results of that tool", async () => {
    const mixed = answer("tool_use", hosted(call, "s1"), own("c1"))
    const session = await sessionOf(user("q"), mixed, ...toolCalls(mixed).map((one) => toolResult(one, "ok")))
    const waiting = await told(session)
    expect(waiting).toMatchObject({
      blocks: ["user:text", `assistant:${call}`, "assistant:tool_use", "user:tool_result"],
      codes: [],
    })
    await session.append([answer("end_turn", resultOf(result, "s1"), text("done")), user("next")])
    const after = await told(session)
    expect(after.codes).toEqual([])
    expect(after.request.messages.slice(0, 3)).toEqual(waiting.request.messages)
    const asked = await sessionOf(user("q"), mixed, toolResult({ id: "c1", name: "read" }, "ok"), user("never mind"))
    expect(await told(asked)).toMatchObject({
      blocks: ["user:text", "assistant:tool_use", "user:tool_result", "user:text"],
      codes: ["hosted_calls"],
    })
  })
})

describe("Anthropic: a call that code of the API has made", () => {
  const caller = { type: "code_execution_20260120", tool_id: "s1" }
  const container = { id: "container_1", expires_at: "2026-01-01T00:10:00Z" }
  const called = { ...answer("tool_use", hosted("server_tool_use", "s1"), own("c1", { caller })) }
  const before = Date.parse("2026-01-01T00:00:00Z")

  test("goes back with its caller and the container, and without both once the container has expired", async () => {
    const entry = fromAnthropic({
      content: [hosted("server_tool_use", "s1"), own("c1", { caller })],
      stop_reason: "tool_use",
      container,
    })
    const session = await sessionOf(user("q"), entry, toolResult({ id: "c1", name: "read" }, "ok"))
    const going = await told(session, before)
    expect(going.request.container).toBe("container_1")
    expect(going.request.messages[1]?.content).toEqual([hosted("server_tool_use", "s1"), own("c1", { caller })])
    const expired = await told(session, before + 600_000)
    expect(expired.request).not.toHaveProperty("container")
    expect(expired.request.messages[1]?.content).toEqual([own("c1")])
    expect(expired.codes).toEqual(["hosted_calls"])
  })

  test("loses its caller with the call that made it", async () => {
    const session = await sessionOf(user("q"), called, toolResult({ id: "c1", name: "read" }, "ok"), user("stop"))
    expect((await told(session)).request.messages[1]?.content).toEqual([own("c1")])
  })

  test("has its container from a stream, too", () => {
    const accumulator = accumulateAnthropic()
    for (const event of [
      { type: "message_start", message: { id: "m", container: null } },
      { type: "content_block_start", index: 0, content_block: own("c1", { caller }) },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use", container } },
      { type: "message_stop" },
    ])
      accumulator.add(event)
    const whole = fromAnthropic({ id: "m", content: [own("c1", { caller })], stop_reason: "tool_use", container })
    expect(accumulator.entries()).toEqual([whole])
  })
})

test("Anthropic: a block whose fields come in pieces of an unknown kind is whole", () => {
  const accumulator = accumulateAnthropic()
  for (const event of [
    { type: "content_block_start", index: 0, content_block: { type: "compaction", content: null } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "compaction_delta", content: "sum", encrypted_content: null },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "compaction_delta", content: "mary", encrypted_content: "E" },
    },
    { type: "content_block_stop", index: 0 },
  ])
    accumulator.add(event)
  const block = { type: "compaction", content: "summary", encrypted_content: "E" }
  expect(accumulator.entries()[0]?.message.content).toEqual(fromAnthropic({ content: [block] }).message.content)
})

describe("Gemini: a call of Google's own tools", () => {
  const call = { toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: {} }, thoughtSignature: "SIG" }
  const response = { toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", response: {} } }
  const said = async (finishReason: string, ...parts: readonly object[]) => {
    const session = await sessionOf(
      user("q"),
      fromGemini({ candidates: [{ finishReason, content: { parts } }] }),
      user("next"),
    )
    const { request, diagnostics } = toGemini(await session.context())
    return { parts: request.contents[1]?.parts, codes: diagnostics.map(({ code }) => code) }
  }

  test("goes back with its response as it was, and without it if the answer was cut off", async () => {
    const whole = [call, response, { text: "found" }]
    for (const reason of ["STOP", "MAX_TOKENS"])
      expect(await said(reason, ...whole)).toEqual({ parts: whole, codes: [] })
    expect(await said("MAX_TOKENS", { text: "I search" }, call)).toEqual({
      parts: [{ text: "I search" }],
      codes: ["hosted_calls"],
    })
  })
})

describe("Gemini: calls without a signature", () => {
  const call = (name: string, more: object = {}) => ({ functionCall: { name, args: {} }, ...more })
  const signatures = async (o: GeminiOptions, ...parts: readonly object[]) => {
    const entry = fromGemini({ responseId: "r", candidates: [{ finishReason: "STOP", content: { parts } }] })
    const session = await sessionOf(user("q"), entry, ...toolCalls(entry).map((one) => toolResult(one, "ok")))
    const { contents } = toGemini(await session.context(), o).request
    return contents[1]?.parts.map(({ thoughtSignature }) => thoughtSignature)
  }

  test("get that of `foreignSignature`, or Google's own from Gemini 3 on, if they are the first of an answer, Google's too", async () => {
    const o = { foreignSignature: "FOREIGN" }
    expect(await signatures(o, call("a"), call("b"))).toEqual(["FOREIGN", undefined])
    expect(await signatures(o, call("a", { thoughtSignature: "SIG" }), call("b"))).toEqual(["SIG", undefined])
    const skips = "skip_thought_signature_validator"
    expect(await signatures({ model: "gemini-3-pro-preview" }, call("a"))).toEqual([skips])
    expect(await signatures({ model: "gemini-3-pro-preview", ...o }, call("a"))).toEqual(["FOREIGN"])
    for (const model of ["gemini-2.5-flash", "gemini-flash-latest"])
      expect(await signatures({ model }, call("a"))).toEqual([undefined])
  })

  test.each(["claude#c2ln", "c2lnbmVk=c2ln", "c2lnb", "", "sig nature"])(
    "lose one that is no base64, as other parts do: %j",
    async (bad) => {
      const more = { thoughtSignature: bad }
      const parts = [{ text: "hm", thought: true, ...more }, { text: "", ...more }, call("a", more), call("b", more)]
      const content = fromGemini({ responseId: "r", candidates: [{ finishReason: "STOP", content: { parts } }] })
      const session = await sessionOf(user("q"), content, ...toolCalls(content).map((one) => toolResult(one, "ok")))
      const { request, diagnostics } = toGemini(await session.context(), { model: "gemini-3-pro-preview" })
      const [thought, first, second] = request.contents[1]?.parts ?? []
      expect(request.contents[1]?.parts.length).toBe(3)
      expect(thought).toEqual({ text: "hm", thought: true })
      expect(first?.thoughtSignature).toBe("skip_thought_signature_validator")
      expect(second).not.toHaveProperty("thoughtSignature")
      expect(diagnostics).toMatchObject([{ code: "signatures", message: expect.stringContaining("base64 only") }])
    },
  )
})

describe("AI SDK: a call that the provider runs", () => {
  const call = { type: "tool-call", toolCallId: "p1", toolName: "search", input: {}, providerExecuted: true }
  const result = { type: "tool-result", toolCallId: "p1", toolName: "search", output: { type: "json", value: 1 } }
  const text = { type: "text", text: "I search" }
  const ownCall = { type: "tool-call", toolCallId: "c1", toolName: "read", input: {} }
  const step = (finishReason: string, ...content: readonly object[]) =>
    fromAiSdk({
      responseMessages: [{ role: "assistant", content }],
      steps: [{ model: { provider: "anthropic.messages", modelId: "m" }, usage: {}, finishReason, response: {} }],
    })
  const told = async (...entries: readonly (NewEntry | readonly NewEntry[])[]) => {
    const { request, diagnostics } = toAiSdk(await (await sessionOf(user("q"), ...entries.flat())).context())
    const types = request.messages.map(({ content }) => content.map(({ type }) => type).join(" "))
    return { types, codes: diagnostics.map(({ code }) => code) }
  }

  test("goes with its result, in the same step or the next one, and alone is left out", async () => {
    expect(await told(step("stop", text, call, result), user("next"))).toEqual({
      types: ["text", "text tool-call tool-result", "text"],
      codes: [],
    })
    expect(await told(step("tool-calls", call), step("stop", result, text), user("next"))).toEqual({
      types: ["text", "tool-call tool-result text", "text"],
      codes: [],
    })
    expect(await told(step("stop", text, call), user("next"))).toEqual({
      types: ["text", "text", "text"],
      codes: ["hosted_calls"],
    })
    expect(await told(step("stop", text, result), user("next"))).toEqual({
      types: ["text", "text", "text"],
      codes: ["hosted_calls"],
    })
  })

  test("stays while it waits for a tool of the program", async () => {
    const waiting = step("tool-calls", call, ownCall)
    const own = toolResult({ id: "c1", name: "read" }, "ok")
    expect(await told(waiting, own)).toEqual({ types: ["text", "tool-call tool-call", "tool-result"], codes: [] })
    expect(await told(waiting, own, user("stop"))).toEqual({
      types: ["text", "tool-call", "tool-result", "text"],
      codes: ["hosted_calls"],
    })
  })
})
