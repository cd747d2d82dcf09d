/** Changes the history in one append. Nothing is removed from the log: what is replaced stays on a branch that was left. */
import type { NewEntry, Session } from "@sessions/core"
import { findStart, type Operation, type Rewrite } from "./history.ts"
import { REWRITTEN } from "./log-id.ts"

/**
 * Replaces what is behind an entry, in one append; undefined is before the first item. Rejects with `conflict`, and writes nothing, if
 * another process has appended. Returns the ids of the entries. `takesFirst`: the first question leaves the history.
 */
export async function rewrite(
  session: Session,
  before: string | null | undefined,
  entries: readonly NewEntry[],
  { type, operations = [] }: Rewrite,
  takesFirst = false,
): Promise<readonly string[]> {
  const at = before === undefined ? await findStart(session) : before
  const op: Rewrite = operations.length === 0 ? { type } : { type, operations }
  const isNew = takesFirst && (await session.info()).metadata[REWRITTEN] !== true
  const all: readonly NewEntry[] = isNew ? [{ type: "metadata", key: REWRITTEN, value: true }, ...entries] : entries
  const batch = all.length === 0 ? {} : { batch: [0, all.length + 1] }
  const { ids } = await session.append(inBatch(all, 1), {
    at,
    leaf: { op, ...batch },
    onConflict: "fail",
    repeats: "end",
  })
  return ids.slice(all.length - entries.length)
}

/** The entries with their places in the batch, of which `before` entries are before these. */
export function inBatch(entries: readonly NewEntry[], before: number): readonly NewEntry[] {
  const length = entries.length + before
  return length === 1 ? entries : entries.map((entry, index) => ({ ...entry, batch: [index + before, length] }))
}

export function named({ id, hash }: Operation): Operation {
  return { id, hash }
}
