/** A session's tree as rows: the current path stays where it is, other branches stand indented under the entry they leave from. */
import type { SessionTree, TreeNode } from "@sessions/core"

export interface TreeRow {
  readonly node: TreeNode
  /** How many branchings stand between the row and its root. */
  readonly depth: number
  readonly onPath: boolean
  /** First of a branch. */
  readonly starts: boolean
  /** More than one entry hangs on it. */
  readonly branches: boolean
}

/** Without recursion: a conversation is as deep as it is long. */
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

/** Rows that stand for themselves, and the number of rows left out between them. */
export type ShortRow = TreeRow | number

/** Long runs without anything to see (no branch, label or compaction) give way to their length. */
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

/** Rows shown of a run at each end. */
const ENDS = 2

function isPlain({ node, starts, branches }: TreeRow): boolean {
  return !starts && !branches && node.label === undefined && node.entry.type !== "compaction"
}

/** By identity: an id may stand in a damaged log twice. */
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
