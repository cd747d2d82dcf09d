/**
 * Errors as answers: `{error: {code, message}}` with the status of `httpStatus`. The message of a failure of the server, 500 and above, may
 * name paths, buckets or roles, so it is for the log of the server, and the client gets the code with a text of ours.
 */
import { httpStatus } from "@sessions/core"
import { json } from "./answers.ts"
import type { TextAnswer } from "./direct.ts"
import { Refusal } from "./refusal.ts"

export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string }
}

/** The answer for an error of core, of a storage or of the protocol, or for any other thrown value. */
export function toErrorAnswer(error: unknown): TextAnswer {
  const body = toErrorBody(error)
  if (error instanceof Refusal) return json(error.status, body, error.headers)
  return json(httpStatus(error), body, retryHeaders(body.error.code))
}

/** What a client is told of an error. */
export function toErrorBody(error: unknown): ErrorBody {
  const { code } = (error ?? {}) as { readonly code: string }
  if (error instanceof Refusal || httpStatus(error) < 500)
    return { error: { code, message: messageOf(error as Error) } }
  const known = Object.hasOwn(TEXTS, code) ? (code as keyof typeof TEXTS) : "internal"
  return { error: { code: known, message: TEXTS[known] } }
}

/** The message without the location of the storage, which is for the server alone. */
function messageOf({
  message,
  storage = "",
  at = "",
}: Error & { readonly storage?: string; readonly at?: string }): string {
  // Texts name `fs:/srv/root`, the root alone, and files below it.
  const location = storage.slice(storage.indexOf(":") + 1)
  // The key of a document or a hash is what the client has sent, and the location in memory is a number.
  const isPath = at.includes("/") && !at.startsWith("sessions/")
  const places = [isPath ? at : "", storage, /[/\\.]/.test(location) ? location : ""]
  return places.filter((place) => place !== "").reduce(withoutPlace, message)
}

function withoutPlace(text: string, place: string): string {
  const escaped = place.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  return text.replaceAll(new RegExp(String.raw`${escaped}(?:[/\\][\w.@%+~-]*\w)*`, "g"), "the storage")
}

const TEXTS = {
  compaction_failed: "The session was not compacted; the server's log says why.",
  corrupt: "The stored data is damaged; the server's log says where.",
  indeterminate: "The write may have happened; read what is there.",
  internal: "The server failed; see its log.",
  misconfigured:
    "The store of the server refuses its set-up; nothing was written. The server's log says what to change.",
  quota: "The store of the server is full; nothing was written.",
  unavailable: "The store of the server is out of reach or busy; nothing was written. Repeat the call.",
  unsupported: "The storage of the server does not support this.",
} as const

/**
 * `unavailable` promises that nothing was written, so it asks to be repeated. `indeterminate` has the same status and no such header: the
 * write may have happened.
 */
function retryHeaders(code: string): Record<string, string> {
  return code === "unavailable" ? { "retry-after": "1" } : {}
}
