/** The session is assignable to every type of the SDK that it implements. */
import type {
  AgentInputItem,
  Session,
  SessionHistoryRewriteAwareSession,
  SessionHistoryTransactionAwareSession,
} from "@openai/agents-core"
import type { AgentSession } from "@sessions/openai-agents"
import { expectTypeOf } from "expect-type"
import { test } from "vitest"

test("the session has the types of the SDK, with its items and without naming them", () => {
  expectTypeOf<AgentSession<AgentInputItem>>().toExtend<Session>()
  expectTypeOf<AgentSession<AgentInputItem>>().toExtend<SessionHistoryTransactionAwareSession>()
  expectTypeOf<AgentSession<AgentInputItem>>().toExtend<SessionHistoryRewriteAwareSession>()
  expectTypeOf<AgentSession>().toExtend<Session>()
  expectTypeOf<AgentSession>().toExtend<Required<Pick<Session, "replaceHistoryWithCompaction">>>()
})
