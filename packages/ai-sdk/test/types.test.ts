/** The structural types fit those of the AI SDK. Checked by the compiler; the test runs so that a runner counts it. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import {
  createAgentUIStream,
  convertToModelMessages,
  createUIMessageStream,
  type InferUITools,
  streamText,
  tool,
  ToolLoopAgent,
  toUIMessageStream,
  type UIDataTypes,
  type UIMessage,
} from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { expectTypeOf } from "expect-type"
import { expect, test } from "vitest"
import { z } from "zod"
import { createChatStore, repairMessages, withRepair } from "../src/index.ts"

type OwnMessage = UIMessage<{ tokens: number }, { weather: { degrees: number } }>

test("persist() fits every function that makes a stream of UI messages, and the messages keep their type", () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const store = createChatStore<OwnMessage>(sessions)
  const model = new MockLanguageModelV4()
  const streams = (messages: OwnMessage[]): readonly unknown[] => {
    const callbacks = store.persist({ chatId: "c", messages })
    return [
      toUIMessageStream({ stream: streamText({ model, prompt: "" }).stream, ...callbacks }),
      createUIMessageStream({ execute: () => undefined, ...callbacks }),
    ]
  }
  const tools = { look: tool({ inputSchema: z.object({ at: z.string() }), execute: async () => "seen" }) }
  const agent = new ToolLoopAgent({ model, tools })
  type AgentMessage = UIMessage<unknown, UIDataTypes, InferUITools<typeof tools>>
  const agents = createChatStore<AgentMessage>(sessions)
  const run = (messages: AgentMessage[]): Promise<unknown> =>
    createAgentUIStream({ agent, uiMessages: repairMessages(messages), ...agents.persist({ chatId: "c", messages }) })
  expect([streams, run]).toHaveLength(2)
  const load = (id: string): ReturnType<typeof store.loadChat> => store.loadChat(id)
  expectTypeOf(load).returns.resolves.toEqualTypeOf<OwnMessage[]>()
})

test("withRepair() gives a function of the same type, and repairMessages() messages of their own type", () => {
  const toModelMessages = withRepair(convertToModelMessages)
  expectTypeOf(toModelMessages).toEqualTypeOf(convertToModelMessages)
  expectTypeOf(repairMessages<OwnMessage>).returns.toEqualTypeOf<OwnMessage[]>()
  expect(toModelMessages).toBeTypeOf("function")
})
