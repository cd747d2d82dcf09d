/** Builds the tree of a log with its labels, for display. */
import { cloneJson } from "../format/clone.ts"
import type { Entry, AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { parentsOf } from "./walk.ts"
import { replaces, type WriteTime, writeTimeOf } from "./last-writer-wins.ts"

export interface TreeNode<Own extends OwnEntry = AnyOwnEntry> {
  /** A copy, made when it is first read. */
  readonly entry: Entry<Own>
  readonly seq: Seq
  /** In log order. */
  readonly children: readonly TreeNode<Own>[]
  readonly label?: string
  /** A tombstone has deleted it. */
  readonly deleted?: boolean
}

/** The roots, in log order. The log must be whole. A caller may change the nodes and their entries. `parents`: of {@link parentsOf}. */
export function buildTree(log: EntryLog, parents: readonly Seq[] = parentsOf(log)): readonly TreeNode[] {
  const labels = labelsOf(log)
  const { deleted } = log
  const nodes: (LogNode | undefined)[] = []
  const roots: TreeNode[] = []
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    const node = entry === undefined ? undefined : new LogNode(entry, seq)
    nodes.push(node)
    if (node === undefined) continue
    const label = labels.get(seq)
    if (label !== undefined) node.label = label
    if (deleted.has(seq)) node.deleted = true
    // A parent precedes its children.
    const parent = nodes[parents[seq] as Seq]
    if (parent === undefined) roots.push(node)
    else if (parent.children === NONE) parent.children = [node]
    else (parent.children as LogNode[]).push(node)
  }
  return roots
}

/**
 * Copies its entry when it is first read: copying all of them at once takes several times as long as making the tree. An entry in memory
 * never changes, so a late copy is the same.
 */
class LogNode implements TreeNode {
  declare readonly entry: Entry
  readonly seq: Seq
  children: readonly TreeNode[]
  declare label?: string
  declare deleted?: boolean
  readonly #stored: Entry
  #own: Entry | undefined

  constructor(stored: Entry, seq: Seq) {
    this.#stored = stored
    this.seq = seq
    this.children = NONE
    // An own property, so that spread and JSON have the entry too.
    Object.defineProperty(this, "entry", LogNode.#entry)
  }

  static readonly #entry: PropertyDescriptor & ThisType<LogNode> = {
    enumerable: true,
    configurable: true,
    get() {
      return (this.#own ??= cloneJson(this.#stored))
    },
    set(entry: Entry) {
      this.#own = entry
    },
  }
}

/** Shared by all nodes without children. `[node]` has space for one child; a list that grows takes as much memory as the node. */
const NONE: readonly TreeNode[] = Object.freeze([])

/** The label of each entry: that of the greatest write time. A label without text removes it. */
export function labelsOf(log: EntryLog): ReadonlyMap<Seq, string> {
  const labels = new Map<Seq, string>()
  const writeTimes = new Map<Seq, WriteTime>()
  for (let seq = log.from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry?.type !== "label") continue
    const { targetId, label } = entry as Readonly<Record<string, unknown>>
    const target = typeof targetId === "string" ? log.find(targetId, seq) : undefined
    if (target === undefined) continue
    const writeTime = writeTimeOf(entry)
    if (!replaces(writeTime, writeTimes.get(target))) continue
    writeTimes.set(target, writeTime)
    if (typeof label === "string" && label !== "") labels.set(target, label)
    else labels.delete(target)
  }
  return labels
}
