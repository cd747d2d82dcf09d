/** The public interface of consolidation: its options, the tools of the agent, and the result. */
import type { ListOptions, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import type { MemoryStore } from "../files/types.ts"

export type ConsolidationPhase = "orient" | "gather" | "consolidate" | "prune"

export interface ConsolidationOptions {
  readonly sessions: Sessions
  readonly files: MemoryStore
  /** The same as that of `createRecall`. Also limits the sessions, see {@link ConsolidationOptions.filter}. */
  readonly scope: string
  /** Runs the caller's agent for one phase. Without it `consolidate` is `invalid`. */
  readonly run?: RunPhase
  /** Hours since the last consolidation. Default 24. */
  readonly hours?: number
  /** Sessions with messages since the last consolidation. Default 5. */
  readonly minSessions?: number
  /** Milliseconds after which the lock of another process is taken over unless it was refreshed. Default 3,600,000. */
  readonly lockStale?: number
  /** Which sessions belong to the scope. Default: those whose `cwd` is the scope. Give it if the scope is not a folder. */
  readonly filter?: Pick<ListOptions, "cwd" | "kind" | "metadata" | "source" | "parent">
  /** Gives the agent the tool `searchSessions`. Results of sessions that do not belong to the scope are left out. */
  readonly search?: (words: string, o: CallOptions) => Promise<readonly SearchResult[]>
  /** The same as that of `createRecall`, for the text of sessions. Default false. */
  readonly toolResults?: boolean
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
}

/**
 * Runs an agent with the prompt and the tools until it has finished the phase. A text that it returns is passed to the later phases as
 * notes. `signal` fires if the call is aborted or the lock is lost; then the tools reject.
 */
export type RunPhase = (request: PhaseRequest) => Promise<string | undefined | void>

export interface PhaseRequest {
  readonly phase: ConsolidationPhase
  readonly prompt: string
  readonly tools: ConsolidationTools
  readonly signal: AbortSignal
}

/** Functions for the tools of the agent. They reject after the phase has ended. */
export interface ConsolidationTools {
  readonly listMemory: () => Promise<readonly string[]>
  /** Undefined if there is no such file. */
  readonly readMemory: (name: string) => Promise<string | undefined>
  /**
   * Replaces a file that this consolidation has read, or creates one. `conflict` if it was changed since it was read, or was not read:
   * read it, and decide again.
   */
  readonly writeMemory: (name: string, text: string) => Promise<void>
  /** Deletes a file that this consolidation has read; `conflict` as for `writeMemory`. */
  readonly deleteMemory: (name: string) => Promise<void>
  /** Those with messages since the last consolidation, newest first, at most 100. */
  readonly listSessions: () => Promise<readonly SessionRow[]>
  /**
   * A page of the conversation, oldest message first, each with its time. The first page has the newest messages. `not_found` for a session
   * that does not belong to the scope.
   */
  readonly readSession: (id: string, o?: { readonly before?: string; readonly limit?: number }) => Promise<SessionText>
  /** Only with {@link ConsolidationOptions.search}. */
  readonly searchSessions?: (words: string) => Promise<readonly SearchResult[]>
}

export interface SessionRow {
  readonly id: string
  readonly title?: string
  /** ISO 8601, of the newest message. */
  readonly at: string
  readonly messages: number
}

export interface SessionText {
  readonly text: string
  /** Pass it to get the page with older messages; missing on the oldest page. */
  readonly before?: string
}

export interface SearchResult {
  /** Id of a session. Other fields are passed on. */
  readonly session: string
}

/** The consolidation of one scope. */
export interface Consolidation {
  /** Whether all gates are open: the time, the number of sessions, the lock. Stops at the first that is not. Writes nothing. */
  shouldConsolidate(o?: ConsolidateGateOptions): Promise<boolean>
  /** Takes the lock; undefined if another process holds it. Refreshed every sixth of `lockStale` until it is released. */
  acquireLock(o?: CallOptions): Promise<ConsolidationLock | undefined>
  /** Stores when the last consolidation was: now, or `at` in milliseconds. `lock_lost` without the lock. */
  updateState(lock: ConsolidationLock, o?: CallOptions & { readonly at?: number }): Promise<void>
  /** A lock that was lost already is no error. */
  releaseLock(lock: ConsolidationLock): Promise<void>
  /**
   * If the gates are open: takes the lock, runs the four phases, checks the memory files, stores the time, and releases the lock. A crash
   * leaves whole files and the lock, which is taken over when it is stale; the next call begins again.
   *
   * Rejects with `consolidation_failed` if the agent fails or the files break a rule after the last phase, with `lock_lost`, `aborted`, and
   * the errors of the storages. The files are then as they were before, unless another writer has changed one since, or the lock is lost;
   * the time of the last consolidation is unchanged.
   */
  consolidate(o?: ConsolidateOptions): Promise<Consolidated>
}

export interface ConsolidateGateOptions extends CallOptions {
  /** The session that is open now; it is not counted and not listed. */
  readonly current?: string
}

export interface ConsolidateOptions extends ConsolidateGateOptions {
  /** Ignores the time and the number of sessions, but not the lock. Default false. */
  readonly force?: boolean
}

export interface Consolidated {
  /** Why nothing was done. */
  readonly skipped?: "too_soon" | "few_sessions" | "locked"
  /** Sessions that were listed. */
  readonly sessions: number
  /** Names of the files that were written, and of those that were deleted. */
  readonly written: readonly string[]
  readonly deleted: readonly string[]
}

export interface ConsolidationLock {
  /** Fires when the lock is found to be lost. */
  readonly signal: AbortSignal
  /** Throws `lock_lost` unless this process holds the lock. */
  check(): Promise<void>
}
