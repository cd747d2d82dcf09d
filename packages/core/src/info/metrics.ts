/** Token counts and cost of a session, summed. */
import type { Usage } from "../format/message.ts"

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
  const input = count(u.input)
  const output = count(u.output)
  const cacheRead = count(u.cacheRead)
  const cacheWrite = count(u.cacheWrite)
  const cost = typeof u.cost === "object" && u.cost !== null ? u.cost.total : u.cost
  return {
    input: metrics.input + input,
    output: metrics.output + output,
    cacheRead: metrics.cacheRead + cacheRead,
    cacheWrite: metrics.cacheWrite + cacheWrite,
    totalTokens:
      metrics.totalTokens + (isCount(u.totalTokens) ? u.totalTokens : input + output + cacheRead + cacheWrite),
    calls: metrics.calls + 1,
    ...(isCount(cost)
      ? { cost: (metrics.cost ?? 0) + cost }
      : metrics.cost === undefined
        ? {}
        : { cost: metrics.cost }),
  }
}

function count(value: unknown): number {
  return isCount(value) ? value : 0
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}
