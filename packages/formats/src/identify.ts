/** Finds the format of a file by its content. */
import { SessionError } from "@sessions/core"
import type { Format } from "./base/format.ts"
import { START_UNITS, startOf } from "./base/start.ts"

export interface Rejection {
  readonly format: string
  /** The end of a sentence that begins with "it". */
  readonly reason: string
}

/** The first format that the beginning of a file is of, or why it is of none of them. */
export function identify(
  start: string,
  formats: readonly Format[],
): { readonly format: Format } | { readonly format?: undefined; readonly rejected: readonly Rejection[] } {
  const parsed = startOf(start.replace(/^\uFEFF/, "").slice(0, START_UNITS))
  const rejected: Rejection[] = []
  for (const format of formats) {
    const reason = format.rejects(parsed)
    if (reason === undefined) return { format }
    rejected.push({ format: format.format, reason })
  }
  return { rejected }
}

/** `not_a_session`, with the formats that were tried and the reason of each. */
export function notASession(rejected: readonly Rejection[]): SessionError {
  const tried = rejected.map(({ format, reason }) => `${format}: it ${reason}`).join("; ")
  return new SessionError("not_a_session", `The file is in none of the known formats. ${tried}.`)
}
