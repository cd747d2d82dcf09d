/** The options and the result of an append, and the state of the running turn. */
import type { Divergence } from "../log/diverged.ts"
import type { Entry } from "../format/entry.ts"
import type { SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { CallOptions, Head } from "../storage/contract.ts"

export type ConflictPolicy = "branch" | "retry-turn" | "fail"

/** The options of a method that appends one entry. */
export interface EntryOptions extends CallOptions {
  /**
   * The treatment of the entries if another writer has continued the conversation. Default: `"retry-turn"` for the first append of a running
   * turn, else `"branch"`. See `docs/contract.md`, "Two writers".
   *
   * `"rebase"` appends them behind the other writer's entries, so that there is no second branch. It is for writers whose entries are
   * valid behind any others. `invalid` with `at`, and for entries that depend on their place: `leaf`, `branch_summary`, `compaction`,
   * `reset_boundary`.
   */
  readonly onConflict?: ConflictPolicy | "rebase"
}

export interface AppendOptions extends EntryOptions {
  /**
   * Branches and appends in one batch: a `leaf` entry that makes this entry the leaf (null: before the first entry), and the entries behind
   * it. The list of entries may be empty. The `leaf` settles branches as that of `branch` does; the `ids` of the result are without it.
   * `not_found` if the log has no such entry.
   *
   * If the session has all of the entries already, by their ids, nothing is written. If it has the first ones, the others follow those.
   */
  readonly at?: string | null
  /** Further fields of that `leaf` entry, such as the name of an operation. `invalid` without `at`, and for a field that the session sets. */
  readonly leaf?: Readonly<Record<string, unknown>>
  /**
   * How far back in the log an entry is looked for whose `id` the caller has given. Default: as far as a ULID's time requires, a day before
   * it; for an id without a time the whole log. `"log"`: the whole log, for any id. `"end"`: the lines in memory alone. The lines are
   * read once per opened session.
   */
  readonly repeats?: "end" | "log"
}

export interface AppendResult {
  /** One for each given entry, in order. */
  readonly ids: readonly string[]
  /** The end of the log after the append. */
  readonly head: Head
  /** Set if another writer's lines, read by this append, leave a branch off this session's path that was not reported yet. */
  readonly diverged?: Divergence
}

/** The lease of the running turn, as its appends use it. */
export interface TurnLease {
  readonly fence: number
  readonly isLost: boolean
  /** The error of what is refused because the lease is lost. */
  error(): SessionError
  /** The entries to append in place of these inputs. Throws `conflict` once the lease is lost. */
  admit<A extends { readonly inputs: readonly NewEntry[] }>(append: A): A
  /** Whether these entries of others show that another turn has taken the lease. It is lost then. */
  isEndedBy(foreign: readonly Entry[]): boolean
  /** {@link isEndedBy}, asked for a pending append, which is refused then. */
  refuses(foreign: readonly Entry[]): boolean
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
