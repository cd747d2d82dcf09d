/** The schema of session information: a row of a list. */
import * as z from "zod"
import { count, modelRef, parentSession } from "./common.ts"

export const metrics = z.looseObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  totalTokens: z.number(),
  cost: z.number().exactOptional(),
  calls: z.number(),
})

export const part = z.looseObject({ from: count, bytes: count, at: z.string().exactOptional() })

export const sessionInfo = z
  .looseObject({
    id: z.string(),
    createdAt: z.string().meta({ description: "ISO 8601, from the header." }),
    lastMessageAt: z
      .string()
      .meta({ description: "ISO 8601, of the newest message; `createdAt` while there is none." }),
    updatedAt: z.string().meta({ description: "ISO 8601, the storage's clock: the last append of any entry." }),
    messageCount: count.meta({ description: "Messages of the log, on every branch." }),
    title: z.string().exactOptional(),
    titleSource: z.enum(["user", "auto"]).exactOptional(),
    firstPrompt: z.string().meta({ description: "The start of the user's first message." }).exactOptional(),
    cwd: z.string().exactOptional(),
    source: z.enum(["interactive", "cron"]),
    kind: z
      .string()
      .meta({ description: "From the header; missing: a session that a person works in." })
      .exactOptional(),
    cronJobId: z.string().exactOptional(),
    systemPromptOverride: z.string().exactOptional(),
    parentSession: parentSession.exactOptional(),
    model: modelRef.meta({ description: "The default model at the leaf." }).exactOptional(),
    metadata: z.record(z.string(), z.unknown()),
    metrics: metrics.meta({ description: "Summed over every branch, without `inheritedMetrics`." }),
    inheritedMetrics: metrics
      .meta({ description: "Of the model calls that a fork has from its parent. Missing if it has none." })
      .exactOptional(),
    bytes: count,
    parts: z.array(part),
    openTips: z
      .looseObject({ tips: z.array(z.looseObject({ seq: count, id: z.string() })), more: count.exactOptional() })
      .meta({ description: "Ends of branches off the path of the leaf that no writer left knowingly, newest first." })
      .exactOptional(),
    incomplete: z.boolean().meta({ description: "The log has fewer lines than its header says." }).exactOptional(),
  })
  .meta({ title: "Session information: a row of a list" })
