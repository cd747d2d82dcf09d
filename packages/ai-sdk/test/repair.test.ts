/** What a model gets of a chat that was interrupted anywhere. The judges are the AI SDK, which refuses a call without a result, and `context()`. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { convertToModelMessages, streamText, tool, type UIMessage, validateUIMessages } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { runs } from "../../../.config/runs.ts"
import { createChatStore, type MessageRepair, repairMessages, withRepair } from "../src/index.ts"
import { step, streamOf, text, user } from "./model.ts"

type Part = UIMessage["parts"][number]
type Prompt = Parameters<MockLanguageModelV4["doStream"]>[0]["prompt"]

const tools = { look: tool({ inputSchema: z.object({}), execute: async () => "seen" }) }

/** What a model gets of the messages; rejects with what the AI SDK refuses. */
async function promptOf(messages: readonly UIMessage[], onRepair?: (repair: MessageRepair) => void): Promise<Prompt> {
  let prompt: Prompt | undefined
  const model = new MockLanguageModelV4({
    doStream: async (o) => {
      prompt = o.prompt
      return { stream: streamOf(step(text("ok"))) }
    },
  })
  const toModelMessages = withRepair(convertToModelMessages, onRepair === undefined ? {} : { onRepair })
  const errors: unknown[] = []
  const result = streamText({
    model,
    tools,
    messages: await toModelMessages([...messages], { tools }),
    onError: ({ error }) => void errors.push(error),
  })
  await result.consumeStream()
  expect(errors).toEqual([])
  return prompt as Prompt
}

const states = [
  "input-streaming",
  "input-available",
  "approval-requested",
  "approved",
  "refused",
  "preliminary",
  "output-available",
  "output-error",
  "output-denied",
] as const
type State = (typeof states)[number]

function callPart(toolCallId: string, state: State, more: object = {}): Part {
  const approval = { id: `of ${toolCallId}` }
  const fields = {
    "input-streaming": { state, rawInput: "{" },
    "input-available": { state },
    "approval-requested": { state, approval },
    approved: { state: "approval-responded", approval: { ...approval, approved: true } },
    refused: { state: "approval-responded", approval: { ...approval, approved: false } },
    preliminary: { state: "output-available", preliminary: true, output: "half" },
    "output-available": { state, output: "seen" },
    "output-error": { state, errorText: "no" },
    "output-denied": { state, approval: { ...approval, approved: false } },
  }[state]
  return { type: "tool-look", toolCallId, input: {}, ...fields, ...more } as Part
}

const words = fc.constantFrom("", "words")
const part = fc.oneof(
  { weight: 4, arbitrary: fc.record({ state: fc.constantFrom(...states), hosted: fc.boolean() }) },
  { weight: 1, arbitrary: words.map((said): Part => ({ type: "text", text: said })) },
  { weight: 2, arbitrary: words.map((said): Part => ({ type: "reasoning", text: said })) },
  { weight: 2, arbitrary: fc.constant<Part>({ type: "step-start" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Part>(
      { type: "data-note", data: 1 },
      { type: "source-url", sourceId: "s", url: "https://example.org" },
    ),
  },
)
const history = fc.array(fc.array(part, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 4 })

function messagesOf(answers: typeof history extends fc.Arbitrary<infer T> ? T : never): UIMessage[] {
  let calls = 0
  return answers.flatMap((parts, n) => [
    user(`u${n}`, `question ${n}`),
    {
      id: `a${n}`,
      role: "assistant" as const,
      parts: parts.map((one) =>
        "hosted" in one ? callPart(`c${calls++}`, one.state, one.hosted ? { providerExecuted: true } : {}) : one,
      ),
    },
  ])
}

test("a chat that was interrupted anywhere is taken by the AI SDK, with one result for each call and no message without content", async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), async (answers, asksOn) => {
      const messages = [...messagesOf(answers), ...(asksOn ? [user("next", "and?")] : [])]
      const before = structuredClone(messages)
      const prompt = await promptOf(messages)
      expect(messages).toEqual(before)
      // A tool that was approved has been executed by now, so every call has its result.
      checkPrompt(prompt, asksOn)
      await validateUIMessages({ messages: repairMessages(messages) })
    }),
    { numRuns: runs(40) },
  )
})

/** `isEnded`: nothing is left for the provider to go on with. */
function checkPrompt(prompt: Prompt, isEnded: boolean): void {
  for (const [index, { role, content }] of prompt.entries()) {
    expect(content.length, JSON.stringify(prompt)).toBeGreaterThan(0)
    if (role !== "assistant") continue
    expect(content.at(-1)?.type).not.toBe("reasoning")
    const next = prompt[index + 1]
    const results = next?.role === "tool" ? next.content : []
    for (const one of content) {
      if (one.type !== "tool-call") continue
      const ends = [...content, ...results].filter(
        (other) => other.type === "tool-result" && other.toolCallId === one.toolCallId,
      )
      // The refusal of a call that a provider executes is what the provider gets.
      const isRefused = results.some(
        (other) =>
          other.type === "tool-approval-response" && !other.approved && other.approvalId === `of ${one.toolCallId}`,
      )
      if (one.providerExecuted !== true) expect(ends, JSON.stringify(prompt)).toHaveLength(1)
      else if (isEnded) expect(ends.length === 1 || isRefused, JSON.stringify(prompt)).toBe(true)
    }
  }
}

test("the calls that get an error result are those of `context()`, with the same text", async () => {
  const store = createSessions({ storage: createMemoryStorage() })
  const chats = createChatStore<UIMessage>(store)
  let chat = 0
  await fc.assert(
    fc.asyncProperty(history, async (answers) => {
      const id = `c${chat++}`
      const messages = [...messagesOf(answers), user("next", "and?")]
      await chats.saveChat({ id, messages })
      const session = await store.open(id)
      const context = await session.context()
      await session.close()
      const repaired = context.messages.flatMap(({ kind, message }) =>
        kind === "repair" && message.role === "toolResult" ? [[message.toolCallId, textOf(message.content)]] : [],
      )
      const parts = messages.flatMap((message) => message.parts)
      // Those that a provider executes have no result of ours, and the AI SDK has one of its own for a refusal.
      const others = parts.filter(
        (one) =>
          "toolCallId" in one &&
          (one.providerExecuted === true || (one.state === "approval-responded" && !one.approval.approved)),
      ) as { readonly toolCallId: string }[]
      const expected = repaired.filter(([call]) => !others.some(({ toolCallId }) => toolCallId === call))
      const ours = repairMessages(messages)
        .flatMap((message) => message.parts)
        .filter((one) => "errorText" in one && one.errorText !== "no")
        .map((one) => ("errorText" in one ? [one.toolCallId, one.errorText] : []))
      expect(ours).toEqual(expected)
    }),
    { numRuns: runs(30) },
  )
})

function textOf(content: unknown): unknown {
  return (content as readonly { readonly text: string }[])[0]?.text
}

test("each repair is reported with its message, its call and the way to change it for good", async () => {
  const messages: UIMessage[] = [
    user("u1", "go"),
    {
      id: "a1",
      role: "assistant",
      parts: [
        { type: "step-start" },
        callPart("c1", "input-available"),
        callPart("c2", "input-streaming"),
        { type: "step-start" },
        { type: "reasoning", text: "hm" },
        callPart("c3", "input-available", { providerExecuted: true }),
      ],
    },
    { id: "a2", role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: "" }] },
    user("u2", "and?"),
  ]
  const repairs: MessageRepair[] = []
  const prompt = await promptOf(messages, (repair) => repairs.push(repair))
  expect(prompt.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"])
  expect(repairs).toEqual([
    {
      messageId: "a1",
      index: 1,
      toolCallId: "c1",
      message:
        'The message "a1": the call "c1" of look has no result; an error result was added. Save the message with a result to replace it.',
    },
    {
      messageId: "a1",
      index: 1,
      toolCallId: "c2",
      message: 'The message "a1": the call "c2" of look is left out, because its input has not arrived completely.',
    },
    {
      messageId: "a1",
      index: 1,
      toolCallId: "c3",
      message: 'The message "a1": the call "c3" of look, which the provider executes, has no result and is left out.',
    },
    { messageId: "a1", index: 1, message: 'The message "a1": reasoning that nothing follows is left out.' },
    {
      messageId: "a2",
      index: 2,
      message: 'The message "a2": a message of role assistant without content is left out.',
    },
  ])
})

test("a call that the provider goes on with stays in the last message: paused, approved, or waiting for a tool that its code has called", () => {
  const hosted = { providerExecuted: true }
  const caller = { callProviderMetadata: { anthropic: { caller: { type: "code_execution_20250825", toolId: "c1" } } } }
  const kept: readonly (readonly Part[])[] = [
    [{ type: "text", text: "I search." }, callPart("c1", "input-available", hosted)],
    [callPart("c1", "approved", hosted)],
    [callPart("c1", "input-available", hosted), callPart("c2", "output-available", caller)],
    [
      callPart("c1", "input-available", hosted),
      callPart("c2", "output-available", caller),
      { type: "step-start" },
      callPart("c3", "output-available", caller),
    ],
  ]
  for (const parts of kept) {
    const messages = [user("u1", "go"), { id: "a1", role: "assistant" as const, parts: [...parts] }]
    expect(repairMessages(messages)).toEqual(messages)
    expect(repairMessages([...messages, user("u2", "and?")])[1]?.parts).not.toContainEqual(
      parts.find((one) => "toolCallId" in one),
    )
  }
  const leftOut: readonly (readonly Part[])[] = [
    [callPart("c1", "approval-requested", hosted)],
    [callPart("c1", "input-available", hosted), callPart("c2", "output-available")],
    [callPart("c1", "approved", hosted), { type: "step-start" }, { type: "text", text: "and" }],
  ]
  for (const parts of leftOut) {
    const [repaired] = repairMessages([{ id: "a1", role: "assistant" as const, parts: [...parts] }])
    expect(repaired?.parts ?? []).toEqual(parts.slice(1))
  }
})
