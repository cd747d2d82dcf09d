/** The options and the result of an append, and the state of the running turn. */
import type { Divergence } from "../log/diverged.ts"
import type { CallOptions, Head } from "../storage/contract.ts"

export type ConflictPolicy = "branch" | "retry-turn" | "fail"

/** When the log of a new session is first written: on creation, or with the first user or assistant message. */
export type PersistAfter = "create" | "user" | "assistant"

export interface AppendOptions extends CallOptions {
  /** Default: `"retry-turn"` for the first append of a running turn, else `"branch"`. See `docs/contract.md`, "Two writers". */
  readonly onConflict?: ConflictPolicy
}

export interface AppendResult {
  /** One for each given entry, in order. */
  readonly ids: readonly string[]
  /** The end of the log after the append; undefined if nothing has been written yet (see {@link PersistAfter}). */
  readonly head: Head | undefined
  /** False if the entries are only in memory until the message of {@link PersistAfter}; a crash loses them. */
  readonly durable: boolean
  /** Set if another writer's lines, read by this append, leave a branch off this session's path that was not reported yet. */
  readonly diverged?: Divergence
}

/** The state of the running turn. It decides whether the turn must start over because of another writer. */
export interface RunningTurn {
  /**
   * The state of its first append of conversation entries, in which a compaction does not count: `unopened` before it is made, `opening`
   * while it is pending, `written` when it is in the log.
   */
  phase: "unopened" | "opening" | "written"
  /** Another writer's conversation entries were read before this turn's first append, so the turn's context is out of date. */
  stale: boolean
  /** The turn's first append conflicted with another writer's turn. The turn starts over; until then its appends are rejected. */
  conflicted: boolean
}
