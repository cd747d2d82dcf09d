/** Chats of the AI SDK whose tools a person approves: the answer is in the log before a tool runs. With the SDK itself and a scripted model. */
import { chatResult, type ChatStore, createChatStore, withRepair } from "@sessions/ai-sdk"
import { createSessions, type Sessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createToolCalls, executionOf, type ToolCallsOptions } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/ai-sdk"
import {
  convertToModelMessages,
  isStepCount,
  isToolUIPart,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from "ai"
import { expect, test } from "vitest"
import { z } from "zod"
import { scriptedModel, type Step } from "../../tool-calls/test/scripted-model.ts"
import { callsOf, stored } from "../../tool-calls/test/world.ts"

const toModelMessages = withRepair(convertToModelMessages)
const question: UIMessage = { id: "q", role: "user", parts: [{ type: "text", text: "Charge 5." }] }
const asks: Step = { text: "May I?", calls: [{ id: "a", name: "charge", input: { amount: 5 } }] }

interface Server {
  readonly sessions: Sessions
  readonly store: ChatStore<UIMessage>
  /** The route of the chat: one request with the last message of the page. */
  readonly ask: (message: UIMessage, steps: readonly Step[], beforeSaving?: () => Promise<void>) => Promise<void>
  readonly resume: () => Promise<readonly string[]>
}

function startServer(
  location: MemoryLocation,
  execute: (key: string) => unknown,
  onUnknown: NonNullable<ToolCallsOptions["onUnknown"]> = () => undefined,
  needsApproval = true,
): Server {
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const store = createChatStore<UIMessage>(sessions)
  const openCalls = async () => {
    const session = await sessions.openOrCreate("chat", { kind: "ai-sdk" })
    return { session, calls: createToolCalls(session, { tools: { charge: "never" }, toResult: chatResult, onUnknown }) }
  }
  const charge = tool({
    inputSchema: z.object({ amount: z.number() }),
    needsApproval,
    execute: async (_, options) => execute(executionOf(options).key),
  })
  return {
    sessions,
    store,
    async ask(message, steps, beforeSaving) {
      const messages = await store.addMessage({ id: "chat", message })
      const { session, calls } = await openCalls()
      if (message.role === "user") await session.append(calls.record)
      const tools = wrapTools(calls, { charge })
      const { stream } = streamText({
        model: scriptedModel(steps).model,
        messages: await toModelMessages(messages, { tools }),
        tools,
        stopWhen: isStepCount(5),
        onError: () => undefined,
      })
      const { onUIMessageStepEnd, onEnd } = store.persist({ chatId: "chat", messages })
      const chat = toUIMessageStream({
        stream,
        originalMessages: [...messages],
        onStepEnd: async (step) => {
          await beforeSaving?.()
          await onUIMessageStepEnd(step)
        },
        onEnd,
      })
      for await (const _ of chat);
    },
    async resume() {
      const { calls } = await openCalls()
      return (await calls.resume({ charge: ({ key }) => execute(key) })).map(({ outcome }) => outcome)
    },
  }
}

/** The answer as a page sends it when its user has approved. */
async function approved(store: ChatStore<UIMessage>): Promise<UIMessage> {
  const answer = (await store.loadChat("chat")).at(-1) as UIMessage
  const parts = answer.parts.map((part) =>
    isToolUIPart(part) && part.state === "approval-requested"
      ? { ...part, state: "approval-responded" as const, approval: { ...part.approval, approved: true } }
      : part,
  )
  return { ...answer, parts }
}

async function resultsIn(sessions: Sessions): Promise<readonly unknown[]> {
  const messages = await stored(await sessions.open("chat"), "message")
  return messages.map(({ message }) => message).filter((one) => (one as { role: string }).role === "toolResult")
}

test("an approved call has its start in the log before it runs, and its result is in the chat once", async () => {
  const location = createMemoryLocation()
  const seen: unknown[] = []
  const server = startServer(location, async (key) => {
    const other = createSessions({ storage: createMemoryStorage({ location }) })
    seen.push((await callsOf(await other.open("chat")))[0], key)
    return { charged: 5 }
  })
  await server.ask(question, [asks])
  expect(await callsOf(await server.sessions.open("chat"))).toMatchObject([{ callId: "a", state: "waiting" }])
  await server.ask(await approved(server.store), [{ text: "Done." }])
  expect(seen).toMatchObject([{ state: "unknown", attempt: 1, key: seen[1] }, expect.any(String)])
  const { parts } = (await server.store.loadChat("chat")).at(-1) as UIMessage
  expect(parts.find(isToolUIPart)).toMatchObject({
    state: "output-available",
    output: { charged: 5 },
    approval: { approved: true },
  })
  expect(parts.at(-1)).toMatchObject({ type: "text", text: "Done." })
  expect(await resultsIn(server.sessions)).toHaveLength(1)
  expect((await stored(await server.sessions.open("chat"), "tool_start")).length).toBe(1)
})

test("a server that was killed in a tool: the next one finds the outcome out, and the chat has it", async () => {
  const location = createMemoryLocation()
  const bank: string[] = []
  const killed = startServer(location, (key) => {
    bank.push(key)
    return new Promise(() => undefined)
  })
  await killed.ask(question, [asks])
  void killed.ask(await approved(killed.store), [{ text: "Done." }])
  await expect.poll(() => bank.length).toBe(1)
  const next = startServer(
    location,
    (key) => bank.push(key),
    ({ key = "" }) => (bank.includes(key) ? { output: { charged: 5 } } : "not done"),
  )
  expect(await next.resume()).toEqual(["settled"])
  expect(bank.length).toBe(1)
  const answer = (await next.store.loadChat("chat")).at(-1) as UIMessage
  expect(answer.parts.find(isToolUIPart)).toMatchObject({ state: "output-available", output: { charged: 5 } })
  await next.ask({ ...question, id: "q2" }, [{ text: "It is charged." }])
  expect((await next.store.loadChat("chat")).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
  ])
  expect(await resultsIn(next.sessions)).toHaveLength(1)
})

/** A server that charges until it is told to end, and what another one has made of the same approval meanwhile. */
async function approvedTwice(beforeSaving: (first: { readonly end: () => Promise<void> }) => Promise<void>) {
  const location = createMemoryLocation()
  const bank: string[] = []
  let end = (): void => undefined
  const first = startServer(location, async (key) => {
    bank.push(key)
    await new Promise<void>((resolve) => (end = resolve))
    return { charged: 5 }
  })
  await first.ask(question, [asks])
  const message = await approved(first.store)
  const asked = first.ask(message, [{ text: "Done." }])
  await expect.poll(() => bank.length).toBe(1)
  const second = startServer(location, (key) => bank.push(key))
  await second.ask(message, [{ text: "I do not know." }], () =>
    beforeSaving({
      async end() {
        end()
        await asked
      },
    }),
  )
  expect(bank.length).toBe(1)
  const { sessions, store } = startServer(location, () => bank.push("again"))
  const session = await sessions.open("chat")
  const { messages } = await session.context()
  const [told] = messages.flatMap(({ message: one }) => (one.role === "toolResult" ? [one.content[0]] : []))
  const parts = ((await store.loadChat("chat")).at(-1) as UIMessage).parts
  return { sessions, told, part: parts.find(isToolUIPart) }
}

test("a call that is approved twice at once: the request that is refused it gives it no result", async () => {
  const { sessions, told, part } = await approvedTwice(async () => undefined)
  expect(told).toMatchObject({ text: expect.stringContaining("its outcome is unknown") })
  expect(part).toMatchObject({ errorText: expect.stringContaining("was started by another run") })
  expect(await resultsIn(sessions)).toEqual([])
})

test("a call that is approved twice at once: the request that is refused it does not replace the result", async () => {
  const { told, part } = await approvedTwice(({ end }) => end())
  expect(told).toMatchObject({ text: '{"charged":5}' })
  expect(part).toMatchObject({ state: "output-available", output: { charged: 5 } })
})

test("an error of a tool is in the chat as the SDK has it", async () => {
  const server = startServer(createMemoryLocation(), () => {
    throw new Error("The card was refused.")
  })
  await server.ask(question, [asks])
  await server.ask(await approved(server.store), [{ text: "Refused." }])
  const { parts } = (await server.store.loadChat("chat")).at(-1) as UIMessage
  expect(parts.find(isToolUIPart)).toMatchObject({ state: "output-error", errorText: "Error: The card was refused." })
  expect(await resultsIn(server.sessions)).toHaveLength(1)
})

test("a tool that needs no approval is not run: its answer is not in the log yet", async () => {
  let ran = 0
  const server = startServer(createMemoryLocation(), () => ran++, undefined, false)
  await server.ask(question, [asks, { text: "It did not run." }])
  const { parts } = (await server.store.loadChat("chat")).at(-1) as UIMessage
  expect(parts.find(isToolUIPart)).toMatchObject({
    state: "output-error",
    errorText: expect.stringContaining("Append the answer of the model before its calls run."),
  })
  expect(ran).toBe(0)
})
