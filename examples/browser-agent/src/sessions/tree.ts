/** The tree of displayed entries: messages and summaries. Other entries (titles, leaves, labels) may be between them in the log. */
import type { Entry } from "@sessions/core"
import type { SessionTree, TreeNode } from "@sessions/core/transfer"

export interface ShownNode {
  readonly entry: Entry
  readonly seq: number
  readonly parent: ShownNode | undefined
  /** In log order. */
  readonly children: ShownNode[]
  /** The last descendant without another shown entry in between: a conversation that ends here continues from it. */
  tip: string
}

export interface ShownTree {
  readonly roots: readonly ShownNode[]
  /** The shown node of an entry id: its own, or that of its nearest shown ancestor. */
  readonly at: ReadonlyMap<string, ShownNode | undefined>
  /** All entries of the log by seq. */
  readonly entries: readonly (Entry | undefined)[]
}

const SHOWN: ReadonlySet<string> = new Set(["message", "custom_message", "compaction", "branch_summary"])

export function shownTree({ roots }: SessionTree): ShownTree {
  const shownRoots: ShownNode[] = []
  const at = new Map<string, ShownNode | undefined>()
  const entries: (Entry | undefined)[] = []
  // Not recursive, because a long conversation is a deep tree.
  const left: { readonly node: TreeNode; readonly above: ShownNode | undefined }[] = []
  const push = (nodes: readonly TreeNode[], above: ShownNode | undefined): void => {
    for (const node of nodes.toReversed()) left.push({ node, above })
  }
  push(roots, undefined)
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, above } = next
    const { entry, seq } = node
    let here = above
    if (SHOWN.has(entry.type) && node.deleted !== true && entry["display"] !== false) {
      here = { entry, seq, parent: above, children: [], tip: entry.id }
      ;(above?.children ?? shownRoots).push(here)
    } else if (here !== undefined) {
      here.tip = entry.id
    }
    entries[seq] = entry
    at.set(entry.id, here)
    push(node.children, here)
  }
  // Children of an entry that is not shown were added at its position, so the log order is restored.
  for (const node of [undefined, ...at.values()]) (node?.children ?? shownRoots).sort((a, b) => a.seq - b.seq)
  return { roots: shownRoots, at, entries: Array.from(entries) }
}

/** The path from the root to the shown node of the leaf. */
export function pathTo(tree: ShownTree, leaf: string | null): readonly ShownNode[] {
  const path: ShownNode[] = []
  for (let node = leaf === null ? undefined : tree.at.get(leaf); node !== undefined; node = node.parent) path.push(node)
  return path.reverse()
}

export function siblingsOf(tree: ShownTree, node: ShownNode): readonly ShownNode[] {
  return node.parent?.children ?? tree.roots
}

/** The newest node of the subtree. */
export function newestBelow(node: ShownNode): ShownNode {
  let newest = node
  const left = [node]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.seq > newest.seq) newest = next
    left.push(...next.children)
  }
  return newest
}
