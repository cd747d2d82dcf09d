/**
 * Reads the numbers of a usage report. Input and output tokens are also read under `inputTokens` and `outputTokens`, their names in
 * other SDKs. A number that is not finite counts as missing.
 */
import type { Usage } from "./message.ts"

export const USAGE_COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const
export type UsageCount = (typeof USAGE_COUNTS)[number]

export function usageCount(usage: Usage, count: UsageCount): number | undefined {
  const value = usage[count]
  if (value === undefined && count === "input") return finite(usage["inputTokens"])
  if (value === undefined && count === "output") return finite(usage["outputTokens"])
  return finite(value)
}

export function usageCost({ cost }: Usage): number | undefined {
  return finite(typeof cost === "object" && cost !== null ? cost.total : cost)
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}
