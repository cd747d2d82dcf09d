import type { Report } from "@sessions/conformance"

/** What of a report goes from a page to whoever drives it. */
export interface Summary {
  readonly passed: number
  readonly failures: readonly string[]
}

export function summaryOf({ counts, results }: Report): Summary {
  return { passed: counts.passed, failures: results.flatMap(({ failure }) => (failure ? [failure.message] : [])) }
}
