/** Token counts and cost of a session, summed. */
import type { Usage } from "../format/message.ts"
import { usageCost, usageCount } from "../format/usage.ts"

export interface SessionMetrics {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly totalTokens: number
  /** In the currency that the providers reported; missing if none was reported. */
  readonly cost?: number
  /** Model calls. */
  readonly calls: number
}

export const NO_METRICS: SessionMetrics = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  calls: 0,
}

/** Adds one model call. A missing number counts as 0, a missing total as the sum of the other four. */
export function addUsage(metrics: SessionMetrics, usage: unknown): SessionMetrics {
  const u = (typeof usage === "object" && usage !== null ? usage : {}) as Usage
  const input = usageCount(u, "input") ?? 0
  const output = usageCount(u, "output") ?? 0
  const cacheRead = usageCount(u, "cacheRead") ?? 0
  const cacheWrite = usageCount(u, "cacheWrite") ?? 0
  const cost = usageCost(u)
  return {
    input: metrics.input + input,
    output: metrics.output + output,
    cacheRead: metrics.cacheRead + cacheRead,
    cacheWrite: metrics.cacheWrite + cacheWrite,
    totalTokens: metrics.totalTokens + (usageCount(u, "totalTokens") ?? input + output + cacheRead + cacheWrite),
    calls: metrics.calls + 1,
    ...(cost === undefined && metrics.cost === undefined ? {} : { cost: (metrics.cost ?? 0) + (cost ?? 0) }),
  }
}
