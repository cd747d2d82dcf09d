/** The result of a case, and the message of a failure. */
import type { Capabilities } from "@sessions/core/storage"
import { Mismatch } from "../helpers/assert.ts"
import type { Case, Group } from "../case/case.ts"
import { type ClauseId, clauses } from "../clauses.ts"
import { showError } from "../helpers/show.ts"
import type { Trace } from "../case/trace.ts"
import { TimeoutError } from "../helpers/timeout.ts"

export interface CaseResult {
  readonly id: Case["id"]
  readonly group: Group
  readonly clause: ClauseId
  readonly title: string
  readonly status: "passed" | "failed" | "skipped"
  readonly milliseconds: number
  /** With "skipped": what the case needs. */
  readonly reason?: string
  /** With "failed". */
  readonly failure?: Failure
  /** The capabilities of the case's storage; missing if it could not be opened. */
  readonly capabilities?: Capabilities
}

export interface Failure {
  readonly what: string
  readonly expected: string
  readonly actual: string
  /** The whole failure for people: the case, the clause, the three texts above and the last call. */
  readonly message: string
}

export function failureOf(
  { id, title, clause }: Case,
  subject: string,
  error: unknown,
  traces: readonly Trace[],
): Failure {
  const { what, expected, actual } = describe(error)
  const pending = traces.flatMap((trace) => trace.pending())
  const last = traces.map((trace) => trace.last()).findLast((call) => call !== undefined)
  const message = [
    `${id} ${subject}: ${title}`,
    `  clause    ${clause}: ${clauses[clause]}`,
    `  what      ${what}`,
    `  expected  ${expected}`,
    `  actual    ${actual}`,
    ...(pending.length > 0 ? [`  waits for ${pending.slice(0, 3).join("; ")}${pending.length > 3 ? "; …" : ""}`] : []),
    ...(pending.length === 0 && last !== undefined ? [`  last call ${last}`] : []),
    ...originOf(error),
  ].join("\n")
  return { what, expected, actual, message }
}

function describe(error: unknown): { what: string; expected: string; actual: string } {
  if (error instanceof Mismatch) return error
  const timedOut = error instanceof TimeoutError
  return {
    what: timedOut ? "the case" : "a call of the case",
    expected: timedOut ? "it to end" : "success",
    actual: showError(error),
  }
}

/** The stack of an error that the adapter threw. The stack of a mismatch would only show the suite. */
function originOf(error: unknown): string[] {
  if (!(error instanceof Error) || error instanceof Mismatch || error instanceof TimeoutError) return []
  const frames = (error.stack ?? "").split("\n").filter((frame) => frame.trim().startsWith("at "))
  return frames.slice(0, 3).map((frame) => `  ${frame.trim()}`)
}
