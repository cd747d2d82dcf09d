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

export function addMetrics(one: SessionMetrics, other: SessionMetrics): SessionMetrics {
  const cost = one.cost ?? other.cost
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    totalTokens: one.totalTokens + other.totalTokens,
    calls: one.calls + other.calls,
    ...(cost !== undefined && { cost: (one.cost ?? 0) + (other.cost ?? 0) }),
  }
}

/** Adds one model call. A missing number counts as 0, and a total that is less than the sum of the other four as that sum. */
export function addUsage(metrics: SessionMetrics, usage: unknown): SessionMetrics {
  const u = (typeof usage === "object" && usage !== null ? usage : {}) as Usage
  const [input, output, cacheRead, cacheWrite, totalTokens] = usageCounts(u)
  const cost = usageCost(u)
  const call = { input, output, cacheRead, cacheWrite, totalTokens, calls: 1, ...(cost !== undefined && { cost }) }
  return addMetrics(metrics, call)
}
