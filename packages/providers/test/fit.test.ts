/** Ids and names of calls that one provider made are sent as another one takes them. */
import type { NewEntry } from "@sessions/core"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { rulesOf } from "../src/ai-sdk/rules.ts"
import { toAnthropic } from "../src/anthropic/index.ts"
import { RULES as ANTHROPIC } from "../src/anthropic/rules.ts"
import { toGemini } from "../src/gemini/index.ts"
import { RULES as GEMINI } from "../src/gemini/rules.ts"
import { toolCalls, toolName, toolResult } from "../src/index.ts"
import { CallIds, fits, sentName } from "../src/shared/call-names.ts"
import { newSession } from "./answers.ts"

const FORMS = { anthropic: ANTHROPIC, gemini: GEMINI, "ai-sdk": rulesOf(), "ai-sdk/mistral": rulesOf("mistral.chat") }
const NUMBERED = { numRuns: runs(100) }

/** Ids of providers, of proxies and local models, and those that the fitted ids of others could be taken for. */
const anyId = fc.oneof(
  fc.constantFrom(
    "",
    "call_0",
    "call_0_2",
    "f.0",
    "f:0",
    "f_0",
    "f_0_2",
    "functions.read:0",
    "abc",
    "toolu_01",
    "é",
    "a|b",
  ),
  fc.string({ maxLength: 80 }),
  fc
    .tuple(fc.constantFrom("call_", "call|fc_"), fc.integer({ min: 30, max: 500 }))
    .map(([start, n]) => start + "x".repeat(n)),
)

describe.each(Object.entries(FORMS))("%s", (_, { callId, callName }) => {
  test("each id fits, different ids are sent as different ones, and one that fits stays unless it is taken", () => {
    fc.assert(
      fc.property(fc.array(anyId, { maxLength: 12 }), (given) => {
        const ids = new CallIds(callId)
        const sent = given.map((id) => ids.ofCall(id))
        for (const [i, id] of sent.entries()) {
          expect(fits(id, callId)).toBe(true)
          const wanted = given[i] as string
          if (fits(wanted, callId) && !sent.slice(0, i).includes(wanted)) expect(id).toBe(wanted)
          for (let j = 0; j < i; j++) if (sent[j] === id) expect([callId.once, given[j]]).toEqual([false, wanted])
        }
        if (callId.once) expect(new Set(sent).size).toBe(sent.length)
      }),
      NUMBERED,
    )
  })

  test("a name fits, one that fits stays, and the one to declare has the form of every API", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom("", "mcp.read", "1st", "_", "a b")),
        (name) => {
          const sent = sentName(name, callName)
          expect(fits(sent, callName)).toBe(true)
          expect(sent).toBe(fits(name, callName) ? name : toolName(name))
          expect(fits(toolName(name), callName)).toBe(true)
          expect(toolName(toolName(name))).toBe(toolName(name))
        },
      ),
      NUMBERED,
    )
  })
})

test("of 20,000 calls with one id each has an id of its own, without a search from the first", () => {
  const ids = new CallIds(ANTHROPIC.callId)
  const sent = Array.from({ length: 20_000 }, () => ids.ofCall("call_0"))
  expect(new Set(sent).size).toBe(20_000)
  expect(sent.slice(0, 3)).toEqual(["call_0", "call_0_2", "call_0_3"])
})

test("an id of 9 characters is made where the receiver wants exactly these", () => {
  const ids = new CallIds(rulesOf("mistral.chat").callId)
  expect(ids.ofCall("D681PevKs")).toBe("D681PevKs")
  for (const id of ["call_1", "call_2", "", "D681PevKs"]) expect(ids.ofCall(id)).toMatch(/^[a-zA-Z0-9]{9}$/)
})

describe("names of tools", () => {
  test("that differ are declared under names that differ, also if only what is replaced differs", () => {
    const names = [
      "mcp.read",
      "mcp:read",
      "mcp read",
      "mcp_read",
      "n".repeat(65),
      "n".repeat(66),
      "",
      " ",
      "1read",
      "_1read",
    ]
    const declared = names.map(toolName)
    expect(new Set(declared).size).toBe(names.length)
    expect(toolName("mcp_read")).toBe("mcp_read")
    for (const name of declared) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  })

  test("are the same in every process: a program may have declared them before", () => {
    expect(toolName("files.read file")).toBe("files_read_file_0lamz9c1oowpxy")
    expect(toolName("")).toBe("unnamed_0ztn3yx17wedfy")
  })

  test("lead from a call back to the tool, and what was called under its own name is sent under the declared one", async () => {
    const tools = new Map(["files.read file", "list"].map((name) => [toolName(name), name]))
    const content = [...tools.keys()].map(
      (name, i) => ({ type: "toolCall", id: `c${i}`, name, arguments: {} }) as const,
    )
    const calls = toolCalls({ role: "assistant", content })
    expect(calls.map(({ name }) => tools.get(name))).toEqual(["files.read file", "list"])
    const session = await newSession()
    const own = { type: "toolCall", id: "c", name: "files.read file", arguments: {} } as const
    await session.append([
      { type: "message", message: { role: "user", content: "read" } },
      { type: "message", message: { role: "assistant", content: [own] } },
      toolResult(own, "text"),
    ])
    const { request, diagnostics } = toAnthropic(await session.context())
    expect(request.messages[1]?.content).toMatchObject([{ type: "tool_use", name: toolName("files.read file") }])
    expect(diagnostics).toMatchObject([{ code: "names", message: expect.stringContaining("toolName") as string }])
  })
})

test("a result has the id and the name of its call, and the diagnostic names entry and rule", async () => {
  const session = await newSession()
  const call = { type: "toolCall", id: `call|${"y".repeat(430)}`, name: "functions.read file", arguments: {} } as const
  const entries: NewEntry[] = [
    { type: "message", message: { role: "user", content: "read" } },
    { type: "message", message: { role: "assistant", content: [call] } },
    toolResult({ id: call.id, name: "read" }, "text"),
  ]
  const { ids } = await session.append(entries)
  const context = await session.context()
  const requests = [toAnthropic(context), toGemini(context), toAiSdk(context)]
  for (const { request, diagnostics } of requests) {
    const sent = JSON.stringify(request)
    expect(sent).not.toContain(call.id)
    expect(sent.split(toolName(call.name)).length).toBeGreaterThan(1)
    expect(diagnostics.map(({ code, entryId }) => [code, entryId])).toEqual([
      ["ids", ids[1]],
      ["names", ids[1]],
    ])
    expect(diagnostics[0]?.message).toMatch(/takes ids of .* at most/)
  }
  const [user, model] = [toGemini(context).request.contents[2], toGemini(context).request.contents[1]]
  expect(user?.parts[0]?.functionResponse?.name).toBe(model?.parts[0]?.functionCall?.name)
  expect(user?.parts[0]?.functionResponse?.id).toBe(model?.parts[0]?.functionCall?.id)
})
