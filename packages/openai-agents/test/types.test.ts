/** The session is assignable to every type of the SDK that it implements. */
import type {
  AgentInputItem,
  Session,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents-core"
import type { AgentSession, createAgentSession } from "@sessions/openai-agents"
import { expectTypeOf } from "expect-type"
import { test } from "vitest"

test("the session has the types of the SDK, with its items and without naming them", () => {
  expectTypeOf<AgentSession<AgentInputItem>>().toExtend<Session>()
  expectTypeOf<AgentSession<AgentInputItem>>().toExtend<SessionHistoryTransactionAwareSession>()
  expectTypeOf<AgentSession<AgentInputItem>>().toExtend<SessionHistoryRewriteAwareSession>()
  expectTypeOf<AgentSession>().toExtend<Session>()
  expectTypeOf<AgentSession>().toExtend<SessionHistoryTransactionAwareSession>()
  expectTypeOf<AgentSession>().toExtend<SessionHistoryRewriteAwareSession>()
  expectTypeOf<AgentSession>().toExtend<Required<Pick<Session, "replaceHistoryWithCompaction">>>()
})

test("no type of a session is `any`: with the SDK's items it gives and takes these, without them it takes any and gives none to look at", () => {
  type Items<Own extends object> = Awaited<ReturnType<AgentSession<Own>["getItems"]>>
  type Added<Own extends object> = Parameters<AgentSession<Own>["addItems"]>[0]
  expectTypeOf<Items<AgentInputItem>>().toEqualTypeOf<AgentInputItem[]>()
  expectTypeOf<Added<AgentInputItem>>().toEqualTypeOf<readonly AgentInputItem[]>()
  expectTypeOf<Awaited<ReturnType<AgentSession<AgentInputItem>["popItem"]>>>().toEqualTypeOf<
    AgentInputItem | undefined
  >()
  expectTypeOf<Items<never>>().toEqualTypeOf<never[]>()
  expectTypeOf<Added<never>>().toEqualTypeOf<readonly object[]>()
  expectTypeOf<ReturnType<typeof createAgentSession>>().toEqualTypeOf<AgentSession<object>>()
})
