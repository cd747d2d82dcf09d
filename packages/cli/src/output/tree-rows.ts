/** Lays out a session's tree as rows: the path to the leaf stays in one column, other branches are indented below the entry they branch from. */
import type { SessionTree, TreeNode } from "@sessions/core/transfer"

export interface TreeRow {
  readonly node: TreeNode
  /** Indentation: the number of branches entered on the way from the root. */
  readonly depth: number
  readonly onPath: boolean
  /** The first entry of an indented branch. */
  readonly starts: boolean
  /** The entry has more than one child. */
  readonly branches: boolean
}

/** Without recursion, because the tree is as deep as the conversation is long. */
export function treeRows(tree: SessionTree): TreeRow[] {
  const path = pathNodes(tree)
  const rows: TreeRow[] = []
  const open: Omit<TreeRow, "onPath" | "branches">[] = []
  const push = (nodes: readonly TreeNode[], depth: number): void => {
    const main = nodes.find((node) => path.has(node)) ?? nodes.at(-1)
    if (main === undefined) return
    open.push({ node: main, depth, starts: false })
    for (const node of [...nodes].reverse()) if (node !== main) open.push({ node, depth: depth + 1, starts: true })
  }
  push(tree.roots, 0)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next
    rows.push({ ...next, onPath: path.has(node), branches: node.children.length > 1 })
    push(node.children, depth)
  }
  return rows
}

/** A row, or the number of rows left out at this position. */
export type ShortRow = TreeRow | number

/** Replaces the middle of each long run of plain rows (no branch, label or compaction) with its length. */
export function shorten(rows: readonly TreeRow[]): ShortRow[] {
  const short: ShortRow[] = []
  let run: TreeRow[] = []
  const endRun = (): void => {
    if (run.length <= 2 * ENDS + 1) short.push(...run)
    else short.push(...run.slice(0, ENDS), run.length - 2 * ENDS, ...run.slice(-ENDS))
    run = []
  }
  for (const row of rows) {
    const last = run.at(-1)
    if (isPlain(row) && (last === undefined || last.depth === row.depth)) run.push(row)
    else {
      endRun()
      if (isPlain(row)) run.push(row)
      else short.push(row)
    }
  }
  endRun()
  return short
}

/** Rows kept at each end of a run. */
const ENDS = 2

function isPlain({ node, starts, branches }: TreeRow): boolean {
  return !starts && !branches && node.label === undefined && node.entry.type !== "compaction"
}

/** Nodes, not ids: in a damaged log two entries may have the same id. */
function pathNodes({ roots, path }: SessionTree): ReadonlySet<TreeNode> {
  const nodes = new Set<TreeNode>()
  let level: readonly TreeNode[] = roots
  for (const id of path) {
    const node = level.findLast(({ entry }) => entry.id === id)
    if (node === undefined) break
    nodes.add(node)
    level = node.children
  }
  return nodes
}
