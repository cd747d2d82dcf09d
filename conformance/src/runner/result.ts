import type { Capabilities } from "@sessions/core/storage"
import { Mismatch } from "../helpers/assert.ts"
import type { Case, Group } from "../case/case.ts"
import type { ClauseId } from "../clauses.ts"
import { clauses } from "../clauses.ts"
import { showError } from "../helpers/show.ts"
import type { Trace } from "../case/trace.ts"
import { OutOfTime } from "../helpers/timeout.ts"

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
  /** What the storage of this case said it can do; missing where it could not be opened. */
  readonly capabilities?: Capabilities
}

export interface Failure {
  readonly what: string
  readonly expected: string
  readonly came: string
  /** The whole of it, with the case, the clause and the last call, for people. */
  readonly message: string
}

export function failureOf(
  { id, title, clause }: Case,
  subject: string,
  error: unknown,
  traces: readonly Trace[],
): Failure {
  const { what, expected, came } = inWords(error)
  const pending = traces.flatMap((trace) => trace.pending())
  const last = traces.map((trace) => trace.last()).findLast((call) => call !== undefined)
  const message = [
    `${id} ${subject}: ${title}`,
    `  clause    ${clause}: ${clauses[clause]}`,
    `  what      ${what}`,
    `  expected  ${expected}`,
    `  came      ${came}`,
    ...(pending.length > 0 ? [`  waits for ${pending.slice(0, 3).join("; ")}${pending.length > 3 ? "; …" : ""}`] : []),
    ...(pending.length === 0 && last !== undefined ? [`  last call ${last}`] : []),
    ...originOf(error),
  ].join("\n")
  return { what, expected, came, message }
}

function inWords(error: unknown): { what: string; expected: string; came: string } {
  if (error instanceof Mismatch) return error
  if (error instanceof OutOfTime) return { what: "the case", expected: "it to end", came: came(error) }
  return { what: "a call of the case", expected: "success", came: came(error) }
}

/** What was thrown instead of a result, in words. */
export function came(error: unknown): string {
  return error instanceof OutOfTime ? `it ${error.message}` : showError(error)
}

/** Where an error of the adapter's own comes from. A mismatch comes from the suite, whose lines help nobody. */
function originOf(error: unknown): string[] {
  if (!(error instanceof Error) || error instanceof Mismatch || error instanceof OutOfTime) return []
  const frames = (error.stack ?? "").split("\n").filter((frame) => frame.trim().startsWith("at "))
  return frames.slice(0, 3).map((frame) => `  ${frame.trim()}`)
}
