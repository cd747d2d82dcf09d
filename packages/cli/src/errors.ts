/** The errors of the command, and the exit status and message for any error. */
import { sanitizeLine } from "./output/sanitize.ts"

/** The command line is wrong: exit status 2. */
export class UsageError extends Error {
  readonly code = "usage" as const
}

/** The command failed: exit status 1. */
export class CommandError extends Error {
  readonly code = "failed" as const
}

export const EXIT_FAILED = 1
export const EXIT_USAGE = 2
/** 128 + SIGINT, as shells report it. */
const EXIT_INTERRUPTED = 130

/** Gives an error lines that are printed below its message. */
export function withDetails<E extends Error>(error: E, details: readonly string[]): E {
  return Object.assign(error, { details })
}

export interface Failure {
  readonly exit: number
  /** One line, and an indented line for each detail; undefined to print nothing. */
  readonly message?: string
}

/** The exit status and message for an error. An error without a `code` is a bug, so its message says how to print the stack. */
export function toFailure(error: unknown): Failure {
  const thrown: Error & { readonly code?: unknown; readonly details?: readonly string[] } =
    error instanceof Error ? error : new Error(String(error))
  const { name, code, message, details = [] } = thrown
  if (code === "EPIPE") return { exit: 0 }
  // Core and the storages report a wrong argument as `invalid`.
  if (code === "usage" || code === "invalid") return { exit: EXIT_USAGE, message: sanitizeLine(message) }
  if (code === "aborted" || name === "AbortError") return { exit: EXIT_INTERRUPTED, message: "interrupted." }
  // The runtime's own `ERR_` codes report a wrong call in this program: a bug as well.
  if (typeof code === "string" && !code.startsWith("ERR_")) {
    const lines = [sanitizeLine(message), ...details.map((detail) => `  ${sanitizeLine(detail)}`)]
    return { exit: EXIT_FAILED, message: lines.join("\n") }
  }
  return {
    exit: EXIT_FAILED,
    message: `unexpected error: ${sanitizeLine(message)} (set SESSIONS_DEBUG=1 to print the stack)`,
  }
}

/** The stack, followed by those of all causes. */
export function trace(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? String(error)
  return error.cause === undefined ? own : `${own}\ncaused by ${trace(error.cause)}`
}
