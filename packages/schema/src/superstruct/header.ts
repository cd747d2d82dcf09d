import type { Header } from "@sessions/core"
import { array, enums, literal, optional, pattern, string, type } from "superstruct"
import { SESSION_ID } from "../session-id.ts"
import { type Check, count, finite, parentSession, typed } from "./common.ts"

const origin = type({
  format: string(),
  version: finite,
  id: optional(string()),
  lines: optional(count),
  backup: optional(type({ blobs: array(string()), bytes: count })),
})

/** The header: line 0 of a log of version 4. */
export const headerStruct: Check<Header> = typed(
  type({
    type: literal("session"),
    format: literal("@sessions"),
    version: literal(4),
    id: pattern(string(), SESSION_ID),
    timestamp: string(),
    cwd: optional(string()),
    title: optional(string()),
    source: optional(enums(["interactive", "cron"])),
    cronJobId: optional(string()),
    parentSession: optional(parentSession),
    systemPromptOverride: optional(string()),
    origin: optional(origin),
  }),
)
