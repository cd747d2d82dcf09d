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
  // The first line of a file is line 1, as in editors; its seq is 0.
  const position = seq === undefined ? "" : ` line ${seq + 1}`
  return ["  ", styled("yellow", code), styled("dim", position), `  ${message}`]
}
