import type { SessionInfo } from "@sessions/core"
import { array, boolean, enums, optional, record, string, type, unknown } from "superstruct"
import { type Check, count, finite, modelRef, parentSession, typed } from "./common.ts"

/** What a list shows of a session. */
export const sessionInfoStruct: Check<SessionInfo> = typed(
  type({
    id: string(),
    createdAt: string(),
    lastMessageAt: string(),
    updatedAt: string(),
    messageCount: count,
    title: optional(string()),
    titleSource: optional(enums(["user", "auto"])),
    firstPrompt: optional(string()),
    cwd: optional(string()),
    source: enums(["interactive", "cron"]),
    cronJobId: optional(string()),
    systemPromptOverride: optional(string()),
    parentSession: optional(parentSession),
    model: optional(modelRef),
    metadata: record(string(), unknown()),
    metrics: type({
      input: finite,
      output: finite,
      cacheRead: finite,
      cacheWrite: finite,
      totalTokens: finite,
      cost: optional(finite),
      calls: finite,
    }),
    bytes: count,
    parts: array(type({ from: count, bytes: count, at: optional(string()) })),
    incomplete: optional(boolean()),
  }),
)
