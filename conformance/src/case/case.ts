import type { Capabilities } from "@sessions/core/storage"
import type { ClauseId } from "../clauses.ts"
import type { Context } from "./context.ts"
import type { Subject } from "../subject.ts"

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

/** One rule, put to the test. Cases are data: any runner, or none, can carry them out. */
export interface Case {
  /** Stable: a case keeps its id for ever, and the id of one that is gone is not used again. */
  readonly id: `${Uppercase<Group>}-${number}${number}`
  readonly group: Group
  /** The clause of the contract that the case holds the adapter to. */
  readonly clause: ClauseId
  /** The rule, as a sentence. */
  readonly title: string
  /** What the subject must have for the case to mean anything; without it the case is skipped with `needs.text` as the reason. */
  readonly needs?: Need
  /** Resolves where the rule is kept; rejects, with words for the author of the adapter, where it is not. */
  run(ctx: Context): Promise<void>
}

export interface Need {
  /** Completes "needs …". */
  readonly text: string
  met(capabilities: Capabilities, hooks: Hooks): boolean
}

/** Which of a subject's optional powers are there. */
export type Hooks = Pick<Subject<never>, "tearTail" | "spoilLine" | "crash" | "faults" | "across">

/** Group and id from one place, so that they cannot disagree. */
export function casesOf(group: Group, cases: readonly (Omit<Case, "id" | "group"> & { n: number })[]): readonly Case[] {
  return cases.map(({ n, ...rest }) => ({
    ...rest,
    group,
    id: `${group.toUpperCase()}-${String(n).padStart(2, "0")}` as Case["id"],
  }))
}
