/** Meanings of the errors of browsers: the table from which the codes and sentences of errors follow. */
import type { StorageErrorCode } from "@sessions/core/storage"

export interface Failure {
  /** Matches `name: message` of the error. The first row that matches counts. */
  readonly when: RegExp
  /** Only an error of opening the database. */
  readonly opening?: true
  /** `unavailable` passes by itself, `corrupt` never, and the others after the act. */
  readonly code: StorageErrorCode
  /** The event, and what helps. `{instead}` is what works without IndexedDB. */
  readonly act: string
}

export const FAILURES: readonly Failure[] = [
  {
    // Chromium, on a full disk: the browser closes its database, and some versions do not open it again before they are restarted.
    // It keeps large values in files of their own, and says nothing of space if it cannot write one.
    when: /NO_SPACE|full disk|disk full|Failed to write blobs/,
    code: "quota",
    act: "the disk is full; free space on the disk, then restart the browser, at last clear this site's data",
  },
  {
    when: /^QuotaExceededError/,
    code: "quota",
    act: "this site's share is used up; delete sessions or free space, then repeat the call",
  },
  {
    // Chromium, at the first opening after it: the sessions would else be reported as missing.
    when: /^DataLossError/,
    opening: true,
    code: "corrupt",
    act: "the browser found its data of this site damaged and has deleted it; the next call begins with an empty database, so bring the sessions back from a copy",
  },
  {
    // Chromium: a file of a large value is missing or cannot be decoded.
    when: /^(NotReadable|Data)Error/,
    code: "corrupt",
    act: "the browser has lost a part of this database; export what can still be read, then delete it",
  },
  {
    when: /^TimeoutError/,
    code: "unavailable",
    act: "close this site's other tabs, then repeat the call",
  },
  {
    when: /^VersionError/,
    opening: true,
    code: "unsupported",
    act: "a newer version of this program created the database; reload the page to get that version",
  },
  {
    // No browser, a sandboxed frame, or blocked site data: "denied permission" in Chromium, InvalidStateError in Firefox.
    when: /^(Security|NotAllowed|InvalidState|Reference|Type)Error|denied permission/,
    opening: true,
    code: "unsupported",
    act: "the browser stores nothing for this page; allow its site data (cookies), open it outside of a frame, or use {instead}",
  },
  {
    when: /^/,
    code: "unavailable",
    act: "the browser gives no reason; repeat the call, then free space on the disk, restart the browser, at last clear this site's data",
  },
]
