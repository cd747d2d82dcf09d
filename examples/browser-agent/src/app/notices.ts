/** Messages for the user: errors as sentences by their code. */
import { hasCode, type ErrorCode } from "@sessions/core"

export interface Notice {
  readonly kind: "error" | "done"
  /** The action that failed: the notice ends when it succeeds. */
  readonly doing?: string
  readonly text: string
  /** The error message of the library. */
  readonly detail?: string
}

/** `doing` completes "Could not …". An error without a sentence for its code is shown with its own message. */
export function noticeOf(error: unknown, doing: string): Notice {
  const message = error instanceof Error ? error.message : String(error)
  const sentence = (Object.entries(SENTENCES) as [ErrorCode, string][]).find(([code]) => hasCode(error, code))?.[1]
  if (sentence === undefined) return { kind: "error", doing, text: `Could not ${doing}. ${message}` }
  return { kind: "error", doing, text: `Could not ${doing}. ${sentence}`, detail: message }
}

/** Without the codes whose messages suit users already (`not_a_session`, `too_large`, `compaction_failed`, …). */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  quota:
    "This site has used up its share of the disk. Nothing that was saved is lost: delete a session you no longer need, then try again.",
  unsupported:
    "The browser stores nothing for this page, or a newer version of it created the sessions. Allow site data for this page, or reload it.",
  read_only: "This session can only be read here. Nothing was changed.",
  newer_version:
    "It was written by a newer version of this program. Reload the page to get that version; nothing was changed.",
  conflict: "Other tabs kept writing to this session at the same time. Your change was not written: try again.",
  not_found: "It is no longer there: it was deleted, perhaps in another tab.",
  unavailable:
    "The browser's storage did not answer, or a part of this page could not be loaded without a network. Nothing was written: try again.",
  indeterminate: "The browser lost its storage during the write. Reload the page to see whether it was written.",
  corrupt: "The stored data was damaged by something else. Nothing was changed; export what can still be read.",
  closed: "This session was closed meanwhile. Open it again.",
}
