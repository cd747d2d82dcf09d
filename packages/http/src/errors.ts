/**
 * Errors as answers: `{error: {code, message}}` with the status of `httpStatus`. What is a 500 is sent without details, which are for the
 * log of the server.
 */
import { httpStatus } from "@sessions/core"
import { json } from "./answers.ts"
import { Refusal } from "./refusal.ts"

/** The answer for an error of core, of a storage or of the protocol, or for any other thrown value. */
export function toErrorAnswer(error: unknown): Response {
  if (error instanceof Refusal) {
    const { status, code, message, headers } = error
    return json(status, { error: { code, message } }, headers)
  }
  const status = httpStatus(error)
  const { code, message } = error as { readonly code: string; readonly message: string }
  if (status !== 500) return json(status, { error: { code, message } }, retryHeaders(code))
  if (code === "corrupt")
    return json(500, { error: { code, message: "The stored data is damaged; see the server's log." } })
  return json(500, { error: { code: "internal", message: "The server failed; see its log." } })
}

/**
 * `unavailable` promises that nothing was written, so it asks to be repeated. `indeterminate` has the same status and no such header: the
 * write may have happened.
 */
function retryHeaders(code: string): Record<string, string> {
  return code === "unavailable" ? { "retry-after": "1" } : {}
}
