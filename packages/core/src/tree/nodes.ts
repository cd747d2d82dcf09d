/** The whole tree of a log, for showing it. */
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { parentOf } from "./path.ts"

export interface TreeNode {
  readonly entry: Entry
  readonly seq: Seq
  /** In log order. */
  readonly children: readonly TreeNode[]
  readonly label?: string
  /** A tombstone has deleted it. */
  readonly deleted?: boolean
}

/** The roots, in log order. The log must be whole. */
export function buildTree(log: EntryLog): readonly TreeNode[] {
  const labels = labelsOf(log)
  const children = new Map<Seq, TreeNode[]>()
  const roots: TreeNode[] = []
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    const below: TreeNode[] = []
    children.set(seq, below)
    const label = labels.get(seq)
    const node: TreeNode = {
      entry,
      seq,
      children: below,
      ...(label === undefined ? {} : { label }),
      ...(log.deleted.has(seq) ? { deleted: true } : {}),
    }
    // A parent stands before its children, so its list is there already.
    const parent = parentOf(log, seq)
    ;(children.get(parent) ?? roots).push(node)
  }
  return roots
}

/** The last label of each entry, in log order; one without text clears. */
export function labelsOf(log: EntryLog): ReadonlyMap<Seq, string> {
  const labels = new Map<Seq, string>()
  for (let seq = log.from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry?.type !== "label") continue
    const { targetId, label } = entry as Readonly<Record<string, unknown>>
    const target = typeof targetId === "string" ? log.find(targetId, seq) : undefined
    if (target === undefined) continue
    if (typeof label === "string" && label !== "") labels.set(target, label)
    else labels.delete(target)
  }
  return labels
}
