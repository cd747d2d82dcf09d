import type { Report } from "@sessions/conformance"

/** The part of a conformance report that a page sends to its driver. */
export interface Summary {
  readonly passed: number
  readonly failures: readonly string[]
}

export function summaryOf({ counts, results }: Report): Summary {
  return { passed: counts.passed, failures: results.flatMap(({ failure }) => (failure ? [failure.message] : [])) }
}
