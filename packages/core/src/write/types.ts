/** The options and the result of an append, and what it needs to know of the turn that makes it. */
import type { CallOptions, Head } from "../storage/contract.ts"

export type ConflictPolicy = "branch" | "retry-turn" | "fail"

/** When a new session's log is first written: at once, or with the first user or assistant message. */
export type PersistAfter = "create" | "user" | "assistant"

export interface AppendOptions extends CallOptions {
  /** Default: `"retry-turn"` for the first append of a running turn, else `"branch"`. See `docs/contract.md`, "Two writers". */
  readonly onConflict?: ConflictPolicy
}

export interface AppendResult {
  /** One for each entry given. */
  readonly ids: readonly string[]
  /** The log's end after them; undefined while nothing has been written (see {@link PersistAfter}). */
  readonly head: Head | undefined
  /** False while the entries wait in memory for the message that {@link PersistAfter} names. */
  readonly durable: boolean
  /** Another writer's turn stands beside this one as a second branch. */
  readonly diverged?: Divergence
}

export interface Divergence {
  /** This session's leaf. */
  readonly leaf: string
  readonly otherLeaf: string
}

/** The turn that is running: what its appends have met. */
export interface RunningTurn {
  /** `opening`: its first append of conversation is pending; `written`: that one is in the log. */
  phase: "unopened" | "opening" | "written"
  /** Another writer's conversation was read while this turn had not opened: what it has seen of the context is out of date. */
  stale: boolean
  /** Another writer's turn stood where its first append should have gone: it starts over, and writes nothing more until then. */
  conflicted: boolean
}
