import { cleanLine } from "./output/sanitize.ts"

/** The command was called wrongly: exit 2. */
export class UsageError extends Error {
  readonly code = "usage" as const
}

/** The command could not do it: exit 1. */
export class CommandError extends Error {
  readonly code = "failed" as const
}

export const EXIT_FAILED = 1
export const EXIT_USAGE = 2
/** What a shell reports of a program that an interrupt ended. */
const EXIT_INTERRUPTED = 130

export interface Failure {
  readonly exit: number
  /** One line; undefined: nothing to say. */
  readonly message?: string
}

/** What to say of something thrown. Only errors with a `code` are expected; any other is a defect, and says how to see more of it. */
export function toFailure(error: unknown): Failure {
  const thrown: Error & { readonly code?: unknown } = error instanceof Error ? error : new Error(String(error))
  const { name, code, message } = thrown
  if (code === "EPIPE") return { exit: 0 }
  // What core and the storages call invalid is what they were given.
  if (code === "usage" || code === "invalid") return { exit: EXIT_USAGE, message: cleanLine(message) }
  if (code === "aborted" || name === "AbortError") return { exit: EXIT_INTERRUPTED, message: "stopped." }
  // Codes that start so are the runtime's word for a call that no program should make.
  if (typeof code === "string" && !code.startsWith("ERR_")) return { exit: EXIT_FAILED, message: cleanLine(message) }
  return { exit: EXIT_FAILED, message: `unexpected error: ${cleanLine(message)} (SESSIONS_DEBUG=1 shows where)` }
}

/** The stack with all causes. */
export function trace(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? String(error)
  return error.cause === undefined ? own : `${own}\ncaused by ${trace(error.cause)}`
}
