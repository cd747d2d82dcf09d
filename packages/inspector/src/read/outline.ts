/** Makes the outline of a session: one row for each entry of its tree, in log order. */
import type { Entry } from "@sessions/core"
import type { SessionTree, TreeNode } from "@sessions/core/transfer"
import { fieldsOf, stringOf } from "../model/fields.ts"
import { preview, textOf } from "../model/text.ts"
import type { Row } from "../model/types.ts"
import { numbersOf } from "../model/usage.ts"

/** The place of an entry in the tree. */
export interface Place {
  readonly parent: number
  readonly label?: string
  readonly deleted?: true
}

export interface Places {
  /** By seq. */
  readonly bySeq: ReadonlyMap<number, Place>
  /** The last entry of the path to the leaf; -1 without one. */
  readonly leaf: number
}

/** Without recursion, because a tree is as deep as the conversation is long. */
export function placesOf({ roots, path }: SessionTree): Places {
  const bySeq = new Map<number, Place>()
  const open: { readonly node: TreeNode; readonly parent: number }[] = roots.map((node) => ({ node, parent: -1 }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next
    const { seq, label, deleted, children } = node
    bySeq.set(seq, {
      parent,
      ...(label === undefined ? {} : { label }),
      ...(deleted === true ? { deleted } : {}),
    })
    for (const child of children) open.push({ node: child, parent: seq })
  }
  return { bySeq, leaf: leafOf(roots, path) }
}

/** In log order. A node copies its entry when that is read, so the nodes of a large tree cost little. */
export function nodesBySeq({ roots }: SessionTree): readonly TreeNode[] {
  const found: TreeNode[] = []
  const open = [...roots]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    found.push(node)
    for (const child of node.children) open.push(child)
  }
  return found.sort((a, b) => a.seq - b.seq)
}

/**
 * In a damaged log two entries may have the same id, so the path is followed from the root. An only child continues it: reading the id would
 * copy its entry.
 */
function leafOf(roots: readonly TreeNode[], path: readonly string[]): number {
  let level = roots
  let leaf = -1
  for (const id of path) {
    const node = level.length === 1 ? level[0] : level.findLast(({ entry }) => entry.id === id)
    if (node === undefined) break
    leaf = node.seq
    level = node.children
  }
  return leaf
}

/** `seqOf`: the seq of the nearest entry with an id before this one. */
export function rowOf(entry: Entry, seq: number, place: Place, seqOf: (id: string) => number | undefined): Row {
  const fields: Readonly<Record<string, unknown>> = entry
  const message = fieldsOf(fields["message"])
  const role = entry.type === "message" ? stringOf(message["role"]) : undefined
  return {
    seq,
    id: entry.id,
    type: entry.type,
    ...(role === undefined ? {} : { role }),
    timestamp: stringOf(fields["timestamp"]) ?? "",
    text: preview(textOf(entry), PREVIEW_UNITS),
    ...place,
    ...callOf(entry.type, role === "assistant" ? message : fields, role),
    ...(entry.type === "compaction" ? compactionOf(fields, seqOf) : {}),
    ...(TARGETING.has(entry.type) ? targetOf(fields, seqOf) : {}),
  }
}

const PREVIEW_UNITS = 120

/** The types of entries that are about another entry. */
const TARGETING: ReadonlySet<string> = new Set(["context_edit", "tombstone", "label", "tool_start"])

function targetOf(
  { targetId }: Readonly<Record<string, unknown>>,
  seqOf: (id: string) => number | undefined,
): Partial<Row> {
  const target = typeof targetId === "string" ? seqOf(targetId) : undefined
  return target === undefined ? {} : { target }
}

/** Answers are calls whether they report usage or not; summaries only if they do, because a person may have written them. */
function callOf(type: string, fields: Readonly<Record<string, unknown>>, role: string | undefined): Partial<Row> {
  const usage = numbersOf(fields["usage"])
  const isCall = role === "assistant" || type === "usage" || (type !== "message" && usage !== undefined)
  if (!isCall) return {}
  const { provider, model } = fields
  const names = [provider, model].filter((name) => typeof name === "string" && name !== "")
  return {
    call: true,
    ...(names.length === 0 ? {} : { model: names.join("/") }),
    ...(usage === undefined ? {} : { usage }),
  }
}

function compactionOf(
  { firstKeptEntryId, tokensBefore }: Readonly<Record<string, unknown>>,
  seqOf: (id: string) => number | undefined,
): Partial<Row> {
  const kept = typeof firstKeptEntryId === "string" ? seqOf(firstKeptEntryId) : undefined
  return {
    ...(kept === undefined ? {} : { kept }),
    ...(typeof tokensBefore === "number" ? { tokensBefore } : {}),
  }
}
