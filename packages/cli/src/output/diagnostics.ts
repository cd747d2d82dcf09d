import type { Diagnostic } from "@sessions/core"
import type { Line } from "./lines.ts"
import { styled } from "./lines.ts"

/** A line for each, as far as `limit` goes. */
export function diagnosticLines(diagnostics: readonly Diagnostic[], limit: number = Number.POSITIVE_INFINITY): Line[] {
  const lines: Line[] = diagnostics.slice(0, limit).map(diagnosticLine)
  const left = diagnostics.length - lines.length
  return left > 0 ? [...lines, styled("dim", `  … ${left} more; "sessions verify ID" shows all`)] : lines
}

function diagnosticLine({ code, seq, message }: Diagnostic): Line {
  const place = seq === undefined ? "" : ` line ${seq}`
  return ["  ", styled("yellow", code), styled("dim", place), `  ${message}`]
}
