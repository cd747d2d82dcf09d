/** The `leaf` entry of an append with `at`. */
import { SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { AppendOptions } from "../write/types.ts"
import { BRANCH_TARGET, type BranchTarget } from "./live-session.ts"

/** Fields of a `leaf` entry that the session sets. */
const SET_FIELDS = ["type", "id", "parentId", "seq", "timestamp", "blobs", "targetSeq", "settles"]

/** Throws `invalid` for options that contradict each other. */
export function branchingEntry(
  session: string,
  { at, leaf = {}, onConflict }: AppendOptions,
): { readonly target: string | null; readonly entry: NewEntry } {
  const refuse = (message: string): SessionError => new SessionError("invalid", message, { session })
  if (at === undefined) throw refuse("`leaf` has the fields of the entry that branches, so it needs `at`.")
  const set = SET_FIELDS.find((field) => leaf[field] !== undefined)
  if (set !== undefined) throw refuse(`\`leaf.${set}\` is given by the session and must not be set.`)
  if (onConflict === "rebase") {
    throw refuse('`at` names the entry to follow, so it cannot be used with onConflict "rebase".')
  }
  const target: BranchTarget = { id: at, settles: [] }
  return { target: at, entry: { ...leaf, type: "leaf", [BRANCH_TARGET]: target } as unknown as NewEntry }
}
