/**
 * The types of the store. Those of the Claude Agent SDK are written down here, so that neither the SDK nor its types are needed; a type
 * test compares them with the SDK's.
 */
import type { Sessions } from "@sessions/core"

/** A transcript of a session: the main one, or with `subpath` that of a subagent. */
export interface SessionKey {
  projectKey: string
  sessionId: string
  /** Such as `subagents/agent-1`; missing for the main transcript. The empty text is `invalid`. */
  subpath?: string
}

/** One line of a transcript: JSON. */
export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [key: string]: unknown
}

export interface SessionSummaryEntry {
  sessionId: string
  /** Milliseconds since the epoch. */
  mtime: number
  /** The SDK's own, stored unchanged. */
  data: Record<string, unknown>
}

/** `foldSessionSummary` of the SDK. */
export type FoldSessionSummary = (
  prev: SessionSummaryEntry | undefined,
  key: SessionKey,
  entries: SessionStoreEntry[],
  options?: { mtime?: number },
) => SessionSummaryEntry

export interface ClaudeStoreOptions {
  /** Stays the caller's: `close` of the store does not close it. */
  readonly sessions: Sessions
  /**
   * `foldSessionSummary` of the SDK. With it each append keeps the summary of its session, and the store has `listSessionSummaries`, so
   * the SDK lists sessions without loading them. Default: no summaries.
   */
  readonly foldSessionSummary?: FoldSessionSummary
  /**
   * How much memory open transcripts may take, in bytes, estimated. The ones that were not used for longest are closed first; the next
   * append to one that was closed reads its log once. Default 67,108,864.
   */
  readonly maxOpenBytes?: number
}

/**
 * A `SessionStore` of the Claude Agent SDK. Calls on one transcript run one after the other, in call order. Every call rejects with
 * `closed` after `close`, with `invalid` for a key that is none, and with the errors of the storage.
 */
export interface ClaudeStore extends AsyncDisposable {
  /**
   * Appends lines, behind those of other processes. Lines that come again are left out: of each `uuid` those with which a call that is
   * repeated begins, or went on, and those of a file that is imported again. Lines with one `uuid` and other contents are all kept, in their
   * order: the SDK reads the last of them. Lines without a `uuid` are always appended. Resolves when the storage has acknowledged all of them. A call that
   * fits one batch of the storage, and the session, is written as one; a larger one is written in several, and a crash leaves the first
   * ones. A transcript that has outgrown a session (`maxSessionBytes`) goes on in a further one. After a rejection the same call may be
   * repeated.
   */
  append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void>
  /**
   * All lines, deep-equal to the appended ones, in log order, so that the SDK reads what it reads from its own file; null if there are
   * none. `corrupt` if content outside of the log is missing.
   */
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>
  /** The main transcripts of a project. `mtime`: the storage's time of the last append. */
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  /** The summaries of a project's sessions, without opening them. Only with the option `foldSessionSummary`. */
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>
  /**
   * Deletes a transcript. A main one is deleted after its subagents, so that a repeated call finishes what a crash has left. One that
   * does not exist is no error.
   */
  delete(key: SessionKey): Promise<void>
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>
  /** Waits for running calls and closes the transcripts. */
  close(): Promise<void>
}
