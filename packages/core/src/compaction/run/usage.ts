/** Adds up the usage that summarizers report. */
import type { Usage } from "../../format/message.ts"
import { USAGE_COUNTS, usageCounts } from "../../format/usage.ts"

/** The sum of two usages. If only one of them has a total, the other's is the sum of its four counts, which is also taken for a smaller total. */
export function sumOfUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const sum: Record<string, number> = {}
  for (const key of [...USAGE_COUNTS, "cost"] as const) {
    const values = key === "totalTokens" ? totals(one, other) : [one[key], other[key]].filter(isNumber)
    if (values.length > 0) sum[key] = values.reduce((all, value) => all + value, 0)
  }
  return sum
}

function totals(...usages: readonly Usage[]): readonly number[] {
  if (usages.every(({ totalTokens }) => totalTokens === undefined)) return []
  return usages.map((usage) => usageCounts(usage)[4])
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value)
}
