/** Token counts and cost of a session, summed. */
import type { Usage } from "../format/message.ts"
import { usageCost, usageCounts } from "../format/usage.ts"

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

export function addMetrics(a: SessionMetrics, b: SessionMetrics): SessionMetrics {
  const cost = a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) }
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    calls: a.calls + b.calls,
    ...cost,
  }
}

/** Adds one model call. A missing number counts as 0, and a total that is less than the sum of the other four as that sum. */
export function addUsage(metrics: SessionMetrics, usage: unknown): SessionMetrics {
  const u = (typeof usage === "object" && usage !== null ? usage : {}) as Usage
  const [input, output, cacheRead, cacheWrite, total] = usageCounts(u)
  const cost = usageCost(u)
  return {
    input: metrics.input + input,
    output: metrics.output + output,
    cacheRead: metrics.cacheRead + cacheRead,
    cacheWrite: metrics.cacheWrite + cacheWrite,
    totalTokens: metrics.totalTokens + total,
    calls: metrics.calls + 1,
    ...(cost === undefined && metrics.cost === undefined ? {} : { cost: (metrics.cost ?? 0) + (cost ?? 0) }),
  }
}
