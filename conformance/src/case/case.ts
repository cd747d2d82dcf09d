/** The shape of a case: data with a function, so that any test runner, or none, can run it. */
import type { Capabilities } from "@sessions/core/storage"
import type { ClauseId } from "../clauses.ts"
import type { Subject } from "../subject.ts"
import type { Context } from "./context.ts"

export type Group =
  | "open"
  | "create"
  | "append"
  | "cas"
  | "head"
  | "read"
  | "docs"
  | "blobs"
  | "list"
  | "delete"
  | "tails"
  | "recover"
  | "fault"
  | "limits"
  | "sync"
  | "watch"
  | "replace"
  | "cross"
  | "network"

/** A test of one rule of the contract. */
export interface Case {
  /** Stable: a case never changes its id, and the id of a removed case is not reused. */
  readonly id: `${Uppercase<Group>}-${number}${number}`
  readonly group: Group
  /** The clause of the contract that the case tests. */
  readonly clause: ClauseId
  /** The rule, as a sentence. */
  readonly title: string
  /** What the case requires of the subject and its storage. The case is skipped without it, with `needs.text` as the reason. */
  readonly needs?: Need
  /** Resolves if the storage keeps the rule; otherwise rejects with an error that explains the failure to the adapter's author. */
  run(ctx: Context): Promise<void>
}

export interface Need {
  /** Completes "needs …". */
  readonly text: string
  met(capabilities: Capabilities, features: SubjectFeatures): boolean
}

/** The optional features of a subject. */
export type SubjectFeatures = Pick<
  Subject<never>,
  "tearTail" | "corruptLine" | "corruptHead" | "contains" | "crash" | "faults" | "across" | "network"
>

/** Derives each id from its group, so that the two cannot disagree. */
export function casesOf(group: Group, cases: readonly (Omit<Case, "id" | "group"> & { n: number })[]): readonly Case[] {
  return cases.map(({ n, ...rest }) => ({
    ...rest,
    group,
    id: `${group.toUpperCase()}-${String(n).padStart(2, "0")}` as Case["id"],
  }))
}
