/** What went wrong, said to a person. */
import { hasCode, type ErrorCode } from "@sessions/core"

export interface Notice {
  readonly kind: "error" | "done"
  readonly text: string
  /** The library's own sentence, for whoever wants to know more. */
  readonly detail?: string
}

/** `doing` completes "Could not …". Errors are told apart by their code; one that has none speaks for itself. */
export function noticeOf(error: unknown, doing: string): Notice {
  const message = error instanceof Error ? error.message : String(error)
  const said = (Object.entries(SENTENCES) as [ErrorCode, string][]).find(([code]) => hasCode(error, code))?.[1]
  if (said === undefined) return { kind: "error", text: `Could not ${doing}. ${message}` }
  return { kind: "error", text: `Could not ${doing}. ${said}`, detail: message }
}

/** Codes whose message is made for people already (`not_a_session`, `too_large`, `compaction_failed`, …) are not here. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  quota:
    "The browser has no room left for this site. Nothing that was saved is lost: delete a session you no longer need, then try again.",
  unsupported:
    "The browser lets this page store nothing, or the sessions were made by a newer version of it. Allow site data for this page, or reload it.",
  read_only: "This session can only be read here. Nothing was changed.",
  newer_version:
    "It was written by a newer version of this program. Reload the page to get that version; nothing was changed.",
  conflict:
    "Other tabs wrote to this session at the same moment, again and again. Nothing of yours was written: try once more.",
  not_found: "It is no longer there: it was deleted, perhaps in another tab.",
  unavailable: "The browser's storage did not answer. Nothing was written: try again, or reload the page.",
  indeterminate: "The browser's storage went away in the middle. Reload the page to see whether it was written.",
  corrupt: "What is stored here was damaged by something else. Nothing was changed; export what can still be read.",
  closed: "This session was closed meanwhile. Open it again.",
}
