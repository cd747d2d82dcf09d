/** Diagnostics of a log as lines. */
import type { Diagnostic } from "@sessions/core"
import { type Line, styled } from "./lines.ts"

/** One line for each of the first `limit` diagnostics. */
export function diagnosticLines(diagnostics: readonly Diagnostic[], limit: number = Number.POSITIVE_INFINITY): Line[] {
  const lines: Line[] = diagnostics.slice(0, limit).map(diagnosticLine)
  const omitted = diagnostics.length - lines.length
  return omitted > 0 ? [...lines, styled("dim", `  … ${omitted} more; "sessions verify ID" shows all`)] : lines
}

function diagnosticLine({ code, seq, message }: Diagnostic): Line {
  const position = seq === undefined ? "" : ` line ${seq}`
  return ["  ", styled("yellow", code), styled("dim", position), `  ${message}`]
}
