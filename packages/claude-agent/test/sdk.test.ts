/** The judge: the types and the readers of the Claude Agent SDK over the store. No command and no model is needed. */
import { foldSessionSummary, type SessionStore } from "@anthropic-ai/claude-agent-sdk"
import { createClaudeStore, type ClaudeStore } from "@sessions/claude-agent"
import { expectTypeOf, test } from "vitest"
import { readersTests } from "./readers.ts"
import { storages } from "./storages.ts"

test("the store is a SessionStore of the SDK, and takes its fold", () => {
  expectTypeOf<ClaudeStore>().toExtend<SessionStore>()
  expectTypeOf(createClaudeStore).parameter(0).toHaveProperty("foldSessionSummary")
  expectTypeOf(foldSessionSummary).toExtend<
    NonNullable<Parameters<typeof createClaudeStore>[0]["foldSessionSummary"]>
  >()
})

readersTests({ memory: storages.memory, files: storages.files })
