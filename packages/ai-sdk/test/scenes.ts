/** What the AI SDK does with a chat: steps, tools in the page, approval, regeneration, edits, abort. */
import { createSessions, type Sessions } from "@sessions/core"
import { exportSession, sessionBranches, verifySession } from "@sessions/core/transfer"
import { tool, type UIMessage, validateUIMessages } from "ai"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { z } from "zod"
import { type ChatStore, createChatStore } from "../src/index.ts"
import { call, reasoning, run, step, text, user } from "./model.ts"
import type { Place, Storages } from "./storages.ts"

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
})
/** Without `execute`: the page runs it. */
const locate = tool({ inputSchema: z.object({}), outputSchema: z.string() })
const remove = tool({
  inputSchema: z.object({ path: z.string() }),
  needsApproval: true,
  execute: async () => "removed",
})
const failing = tool({
  inputSchema: z.object({}),
  execute: async (): Promise<string> => {
    throw new Error("no network")
  },
})

export function scenesTests(storages: Storages): void {
  describe.each(storages)("on %s", (_, make) => {
    let place: Place
    let sessions: Sessions
    let store: ChatStore<UIMessage>

    beforeEach(async () => {
      place = await make()
      sessions = createSessions({ storage: place.open() })
      store = createChatStore<UIMessage>(sessions)
    })
    afterEach(async () => {
      await sessions.close()
      await place.remove()
    })

    /** The chat as another process reads it, validated. */
    async function loaded(chatId: string): Promise<UIMessage[]> {
      const other = createSessions({ storage: place.open() })
      const messages = await createChatStore<UIMessage>(other).loadChat(chatId)
      if (other.storage !== sessions.storage) await other.close()
      return validateUIMessages({ messages })
    }

    /** The roles of the context, and what its tools got and gave. */
    async function contextOf(chatId: string): Promise<readonly string[]> {
      const session = await sessions.open(chatId)
      const { messages } = await session.context()
      await session.close()
      return messages.map(({ message }) => {
        const { role, content } = message
        const words = content.map((block) =>
          block.type === "text" ? block.text : block.type === "toolCall" ? `call ${block.name}` : block.type,
        )
        return `${role}: ${words.join(", ")}`
      })
    }

    test("a run with tools is one message, and one assistant message with its results for each step in the context", async () => {
      const chatId = await store.createChat({ title: "Weather" })
      expect(await store.loadChat(chatId)).toEqual([])
      const messages = [user("u1", "Weather in Rome?")]
      await run({
        store,
        chatId,
        messages,
        tools: { weather, failing },
        steps: [
          step(
            reasoning("hm", "c2ln+/=="),
            text("I look."),
            call("c1", "weather", { city: "Rome" }),
            call("c2", "failing", {}),
          ),
          step(text("21 degrees.")),
        ],
      })
      const [first, answer, ...more] = await loaded(chatId)
      expect([first, more]).toEqual([messages[0], []])
      expect(answer?.parts).toMatchObject([
        { type: "step-start" },
        { type: "reasoning", text: "hm", state: "done", providerMetadata: { anthropic: { signature: "c2ln+/==" } } },
        { type: "text", text: "I look.", state: "done" },
        {
          type: "tool-weather",
          toolCallId: "c1",
          state: "output-available",
          input: { city: "Rome" },
          output: { city: "Rome", degrees: 21 },
        },
        { type: "tool-failing", toolCallId: "c2", state: "output-error", errorText: expect.any(String) as string },
        { type: "step-start" },
        { type: "text", text: "21 degrees.", state: "done" },
      ])
      expect(await contextOf(chatId)).toEqual([
        "user: Weather in Rome?",
        "assistant: thinking, I look., call weather, call failing",
        'toolResult: {"city":"Rome","degrees":21}',
        expect.stringMatching(/^toolResult: ./),
        "assistant: 21 degrees.",
      ])
      expect((await store.listChats()).chats).toMatchObject([{ id: chatId, title: "Weather" }])
    })

    test("each step is stored when it ends, and a step that is stored is not written again", async () => {
      const chatId = await store.createChat()
      const stored: (readonly string[])[] = []
      const watching = tool({
        inputSchema: z.object({}),
        execute: async () => {
          stored.push((await store.loadChat(chatId)).map(({ parts }) => parts.map(({ type }) => type).join(" ")))
          return "ok"
        },
      })
      await run({
        store,
        chatId,
        messages: [user("u1", "go")],
        tools: { watching },
        steps: [step(call("c1", "watching", {})), step(call("c2", "watching", {})), step(text("done"))],
        metadata: (type) => (type === "finish" ? { tokens: 13 } : undefined),
      })
      expect(stored).toEqual([[], ["text", "step-start tool-watching"]])
      const [, answer] = await loaded(chatId)
      expect(answer?.metadata).toEqual({ tokens: 13 })
      const session = await sessions.open(chatId)
      const types: string[] = []
      for await (const entry of session.entries())
        types.push(entry.type === "message" ? entry.message.role : entry.type)
      await session.close()
      expect(types).toEqual(["user", "assistant", "toolResult", "assistant", "toolResult", "assistant", "custom"])
    })

    test("the output of a tool in the page continues the message that is stored", async () => {
      const chatId = await store.createChat()
      const messages = [user("u1", "Where am I?")]
      await run({ store, chatId, messages, tools: { locate }, steps: [step(call("c1", "locate", {}))] })
      const [, asked] = (await loaded(chatId)) as [UIMessage, UIMessage]
      expect(asked.parts[1]).toMatchObject({ type: "tool-locate", state: "input-available" })
      const filled = asked.parts.map((part) =>
        part.type === "tool-locate" ? { ...part, state: "output-available", output: "Rome" } : part,
      ) as UIMessage["parts"]
      const request = [...messages, { ...asked, parts: filled }]
      await store.saveChat({ id: chatId, messages: request })
      await run({ store, chatId, messages: request, tools: { locate }, steps: [step(text("In Rome."))] })
      const [, answer, ...more] = await loaded(chatId)
      expect(more).toEqual([])
      expect(answer).toMatchObject({ id: asked.id, parts: [{}, { output: "Rome" }, {}, { text: "In Rome." }] })
      expect(await contextOf(chatId)).toEqual([
        "user: Where am I?",
        "assistant: call locate",
        "toolResult: Rome",
        "assistant: In Rome.",
      ])
    })

    test.each([
      [true, "output-available", "toolResult: removed"],
      [false, "output-denied", "toolResult: Not today."],
    ])("an approval (%s) is stored when it is asked for, given, and carried out", async (approved, state, result) => {
      const chatId = await store.createChat()
      const messages = [user("u1", "Remove a.txt")]
      const tools = { remove }
      await run({ store, chatId, messages, tools, steps: [step(call("c1", "remove", { path: "a.txt" }))] })
      const [, asked] = (await loaded(chatId)) as [UIMessage, UIMessage]
      expect(asked.parts[1]).toMatchObject({
        state: "approval-requested",
        approval: { id: expect.any(String) as string },
      })
      const responded = asked.parts.map((part) =>
        "approval" in part && part.approval !== undefined
          ? {
              ...part,
              state: "approval-responded",
              approval: { id: part.approval.id, approved, ...(approved ? {} : { reason: "Not today." }) },
            }
          : part,
      ) as UIMessage["parts"]
      const request = [...messages, { ...asked, parts: responded }]
      await store.saveChat({ chatId, messages: request })
      expect(await loaded(chatId)).toEqual(request)
      await run({ store, chatId, messages: request, tools, steps: [step(text("Ok."))] })
      const [, answer] = await loaded(chatId)
      expect(answer).toMatchObject({
        id: asked.id,
        parts: [{}, { state, input: { path: "a.txt" } }, {}, { text: "Ok." }],
      })
      expect(await contextOf(chatId)).toContain(result)
    })

    test("a regenerated answer begins a branch, and the log keeps the first one", async () => {
      const chatId = await store.createChat()
      const messages = [user("u1", "A number?")]
      await run({ store, chatId, messages, steps: [step(text("One"))] })
      await run({ store, chatId, messages, steps: [step(text("Two"))] })
      const [, answer, ...more] = await loaded(chatId)
      expect([answer?.parts.at(-1), more]).toMatchObject([{ text: "Two" }, []])
      expect(await contextOf(chatId)).toEqual(["user: A number?", "assistant: Two"])
      const session = await sessions.open(chatId)
      expect((await sessionBranches(session)).length).toBe(2)
      await session.close()
      const found: string[] = []
      for await (const piece of exportSession(sessions, chatId)) found.push(piece)
      expect(found.join("")).toContain('"One"')
    })

    test("an edited question with the same id replaces what followed it", async () => {
      const chatId = await store.createChat()
      await run({ store, chatId, messages: [user("u1", "Rome?")], steps: [step(text("Yes"))] })
      const edited = [user("u1", "Paris?")]
      await store.saveChat({ chatId, messages: edited })
      expect(await loaded(chatId)).toEqual(edited)
      await run({ store, chatId, messages: edited, steps: [step(text("No"))] })
      expect(await contextOf(chatId)).toEqual(["user: Paris?", "assistant: No"])
    })

    test("an aborted run leaves what has arrived, and a regeneration replaces it", async () => {
      const chatId = await store.createChat()
      const messages = [user("u1", "Count")]
      const stop = new AbortController()
      await run({
        store,
        chatId,
        messages,
        steps: [step(text("123456789"))],
        abortSignal: stop.signal,
        onChunk: (chunk) => chunk.type === "text-delta" && chunk.delta === "3" && stop.abort(),
      })
      const [, partial] = await loaded(chatId)
      expect(partial?.parts.at(-1)).toMatchObject({
        type: "text",
        state: "streaming",
        text: expect.stringMatching(/^123/) as string,
      })
      await run({ store, chatId, messages, steps: [step(text("1234"))] })
      expect(await contextOf(chatId)).toEqual(["user: Count", "assistant: 1234"])
    })

    test("a run that is aborted before its first part leaves the chat valid", async () => {
      const chatId = await store.createChat()
      const messages = [user("u1", "Count")]
      await run({ store, chatId, messages, steps: [], abortSignal: AbortSignal.abort() })
      expect(await loaded(chatId)).toEqual(messages)
    })

    test("a chat is cut back by a shorter array, also to no message", async () => {
      const chatId = await store.createChat()
      const messages = [user("u1", "a"), user("u2", "b"), user("u3", "c")]
      await store.saveChat({ chatId, messages })
      await store.saveChat({ chatId, messages: messages.slice(0, 1) })
      expect(await loaded(chatId)).toEqual(messages.slice(0, 1))
      await store.saveChat({ chatId, messages: [] })
      expect(await store.loadChat(chatId)).toEqual([])
      await store.saveChat({ chatId, messages })
      expect(await loaded(chatId)).toEqual(messages)
      expect((await verifySession(sessions, chatId)).diagnostics).toEqual([])
    })
  })
}
