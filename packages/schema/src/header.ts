/** The schema of the header: line 0 of a log of version 4. */
import * as z from "zod"
import { count, parentSession } from "./common.ts"

/** 1 to 128 characters, a letter, digit, `_` or `-` first and last, no "..": `isSessionId` of core. */
const SESSION_ID = /^(?!.*\.\.)[A-Za-z0-9_-](?:[A-Za-z0-9_.:@+~-]{0,126}[A-Za-z0-9_-])?$/

export const origin = z.looseObject({
  format: z.string(),
  version: z.number(),
  id: z.string().exactOptional(),
  lines: count.meta({ description: "How many lines there must be, header included." }).exactOptional(),
  settled: count
    .meta({ description: "How many lines, header included, came from a system whose branches leave no `leaf` entry." })
    .exactOptional(),
  backup: z.looseObject({ blobs: z.array(z.string()), bytes: count }).exactOptional(),
})

export const header = z
  .looseObject({
    type: z.literal("session"),
    format: z.literal("@sessions"),
    version: z.literal(4),
    id: z.string().regex(SESSION_ID),
    timestamp: z.string().meta({ description: "ISO 8601." }),
    creation: z
      .string()
      .min(1)
      .meta({
        description:
          "Which creation this is the log of. Copies have the same; a session that was created apart has another.",
      })
      .exactOptional(),
    cwd: z.string().exactOptional(),
    title: z.string().exactOptional(),
    source: z.enum(["interactive", "cron"]).exactOptional(),
    kind: z
      .string()
      .min(1)
      .meta({ description: "Which program's sessions this is one of. Missing: a session that a person works in." })
      .exactOptional(),
    cronJobId: z.string().exactOptional(),
    parentSession: parentSession.exactOptional(),
    systemPromptOverride: z.string().exactOptional(),
    origin: origin.exactOptional(),
  })
  .meta({ title: "The header of a session log" })
