/** Lays out the outline as a tree: the path to the leaf stays in one column, other branches are indented below the entry they leave. Pure. */
import type { Row } from "../src/model/types.ts"
import { childrenOf, pathTo, type Rows } from "./paths.ts"

export interface TreeRow {
  readonly row: Row
  readonly depth: number
  readonly onPath: boolean
  /** The first entry of an indented branch. */
  readonly starts: boolean
  /** More than one entry continues it. */
  readonly branches: boolean
}

/** Without recursion, because a tree is as deep as the conversation is long. */
export function treeRows(rows: Rows, leaf: number): readonly TreeRow[] {
  const path = new Set(pathTo(rows, leaf))
  const children = childrenOf(rows)
  const laid: TreeRow[] = []
  const open: { readonly seq: number; readonly depth: number; readonly starts: boolean }[] = []
  const push = (seqs: readonly number[], depth: number): void => {
    const main = seqs.find((seq) => path.has(seq)) ?? seqs.at(-1)
    if (main === undefined) return
    open.push({ seq: main, depth, starts: false })
    for (const seq of seqs.toReversed()) if (seq !== main) open.push({ seq, depth: depth + 1, starts: true })
  }
  push(children.get(-1) ?? [], 0)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { seq, depth, starts } = next
    const below = children.get(seq) ?? []
    laid.push({ row: rows.get(seq) as Row, depth, starts, onPath: path.has(seq), branches: below.length > 1 })
    push(below, depth)
  }
  return laid
}

/** A row, or rows that are left out at this position. */
export type ShortRow = TreeRow | readonly TreeRow[]

/** Leaves out the middle of each long run of rows that neither branch nor have a label. */
export function shorten(rows: readonly TreeRow[]): readonly ShortRow[] {
  const short: ShortRow[] = []
  let run: TreeRow[] = []
  const endRun = (): void => {
    if (run.length <= 2 * ENDS + 1) short.push(...run)
    else short.push(...run.slice(0, ENDS), run.slice(ENDS, -ENDS), ...run.slice(-ENDS))
    run = []
  }
  for (const row of rows) {
    const isPlain = !row.starts && !row.branches && row.row.label === undefined && row.row.type !== "compaction"
    if (!isPlain || (run.length > 0 && run.at(-1)?.depth !== row.depth)) endRun()
    if (isPlain) run.push(row)
    else short.push(row)
  }
  endRun()
  return short
}

const ENDS = 3
