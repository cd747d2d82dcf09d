/**
 * Reads the numbers of a usage report. Input and output tokens are also read under `inputTokens` and `outputTokens`, their names in
 * other SDKs. A number that is not finite counts as missing.
 */
import type { Usage } from "./message.ts"
import { isObject } from "./shape.ts"

export const USAGE_COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const
export type UsageCount = (typeof USAGE_COUNTS)[number]

export function usageCount(usage: Usage, count: UsageCount): number | undefined {
  const value = usage[count]
  if (value === undefined && count === "input") return finite(usage["inputTokens"])
  if (value === undefined && count === "output") return finite(usage["outputTokens"])
  return finite(value)
}

/**
 * Input, output, read and written cache, and all tokens; a missing count is 0. All is the larger of the reported total and the sum of its
 * parts: totals of the AI SDK and of several gateways leave cached tokens out.
 */
export function usageCounts(usage: Usage): readonly [number, number, number, number, number] {
  const [input, output, cacheRead, cacheWrite, total] = USAGE_COUNTS.map((count) => usageCount(usage, count) ?? 0) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return [input, output, cacheRead, cacheWrite, Math.max(total, input + output + cacheRead + cacheWrite)]
}

/** The tokens of the request: input and caches, or the total without the output if that is more. */
export function inputTokens(usage: Usage): number {
  // Each field by its name: contexts read those of every answer, and `usageCount` takes twice as long.
  const { input = usage["inputTokens"], output = usage["outputTokens"], cacheRead, cacheWrite, totalTokens } = usage
  const read = (finite(input) ?? 0) + (finite(cacheRead) ?? 0) + (finite(cacheWrite) ?? 0)
  return Math.max(read, (finite(totalTokens) ?? 0) - (finite(output) ?? 0))
}

export function usageCost({ cost }: Usage): number | undefined {
  return finite(typeof cost === "object" && cost !== null ? cost.total : cost)
}

/** The valid numbers of a report. An invalid report is ignored, so that the answer that was paid for is not lost. */
export function readUsage(report: unknown): Usage | undefined {
  if (!isObject(report)) return undefined
  const counts = USAGE_COUNTS.map((key) => [key, usageCount(report, key)] as const)
  const numbers = [...counts, ["cost", usageCost(report)] as const].filter(([, value]) => value !== undefined)
  const usage = Object.fromEntries(numbers) as Usage
  return Object.keys(usage).length === 0 ? undefined : usage
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}
