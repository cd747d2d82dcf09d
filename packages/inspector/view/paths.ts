/** Paths, tips and children of the outline. Pure. */
import type { Row } from "../src/model/types.ts"

export type Rows = ReadonlyMap<number, Row>

/** The seqs from the root to an entry. */
export function pathTo(rows: Rows, tip: number): readonly number[] {
  const path: number[] = []
  for (let row = rows.get(tip); row !== undefined; row = rows.get(row.parent)) path.push(row.seq)
  return path.reverse()
}

export function childrenOf(rows: Rows): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>()
  for (const { seq, parent } of rows.values()) {
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [seq])
    else siblings.push(seq)
  }
  return children
}

/** The end of the branch that an entry is shown on: the path to the leaf if it is on it, else that of its newest descendant. */
export function tipFor(rows: Rows, seq: number, leaf: number): number {
  if (pathTo(rows, leaf).includes(seq)) return leaf
  // A parent precedes its children, so one pass from the entry finds all of its descendants.
  const below = new Set([seq])
  let tip = seq
  for (const row of rows.values()) {
    if (row.seq <= seq || !below.has(row.parent)) continue
    below.add(row.seq)
    tip = row.seq
  }
  return tip
}

/** The nearest entry with an id; if a damaged log repeats it, the last one. */
export function seqOfId(rows: Rows, id: string): number | undefined {
  let found: number | undefined
  for (const row of rows.values()) if (row.id === id) found = row.seq
  return found
}

/** What a compaction took out of the context: the messages on its path between the start of the context before it and the first kept one. */
export function replacedBy(rows: Rows, compaction: Row): readonly Row[] {
  const path = pathTo(rows, compaction.parent).map((seq) => rows.get(seq) as Row)
  const previous = path.findLastIndex(({ type }) => type === "compaction" || type === "reset_boundary")
  const start = path[previous]?.kept ?? path[previous]?.seq ?? -1
  const end = compaction.kept ?? compaction.seq
  return path.filter(({ seq, type, deleted }) => seq >= start && seq < end && isContent(type) && deleted === undefined)
}

export function isContent(type: string): boolean {
  return type === "message" || type === "custom_message" || type === "branch_summary"
}
