/**
 * Hints: fields with the seq of another entry, so that a loader can jump there. They differ between two logs with the same entries, so
 * they are made anew when an entry is moved. Entries of other types may have fields of the same names, which are content.
 */
import { ENTRY_TYPES } from "./entry-types.ts"
import type { Fields } from "./shape.ts"

export interface Hint {
  readonly field: "firstKeptSeq" | "targetSeq"
  /** The id of the other entry. A stored entry may have any value there. */
  readonly targetId: unknown
}

/** The hint that entries of this type have. The target of a `leaf` is its parent, which a new entry does not have yet. */
export function hintOf(fields: Fields, parentId: unknown = fields["parentId"]): Hint | undefined {
  const hint = ENTRY_TYPES.get(fields["type"] as string)?.hint
  return hint && { field: hint.field, targetId: hint.id === "parentId" ? parentId : fields[hint.id] }
}
