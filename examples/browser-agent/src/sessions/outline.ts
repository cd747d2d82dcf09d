/** An outline of the tree: the questions, the summaries, and each point where the conversation branches. */
import type { Message } from "@sessions/core"
import { textOf } from "../agent/messages.ts"
import { plainText } from "./plain-text.ts"
import { messageOf } from "./lines.ts"
import { newestBelow, pathTo, type ShownNode, type ShownTree, siblingsOf } from "./tree.ts"

export interface OutlineRow {
  readonly id: string
  /** The newest leaf of the branch. */
  readonly leaf: string
  /** The number of branching points above it. */
  readonly depth: number
  readonly text: string
  readonly kind: "user" | "assistant" | "summary"
  /** Whether it has siblings. */
  readonly forked: boolean
  readonly onPath: boolean
}

/** What is parsed of a question for its row, which shows less. */
const MAX_UNITS = 1_000

export function outlineOf(tree: ShownTree, leaf: string | null): readonly OutlineRow[] {
  const path = new Set(pathTo(tree, leaf))
  const rows: OutlineRow[] = []
  const left = tree.roots.toReversed().map((node) => ({ node, depth: tree.roots.length > 1 ? 1 : 0 }))
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, depth } = next
    const forked = siblingsOf(tree, node).length > 1
    const kind = kindOf(node)
    if (forked || kind !== "assistant") {
      rows.push({
        id: node.entry.id,
        leaf: newestBelow(node).tip,
        depth,
        text: labelOf(tree, node),
        kind,
        forked,
        onPath: path.has(node),
      })
    }
    const below = node.children.length > 1 ? depth + 1 : depth
    for (const child of node.children.toReversed()) left.push({ node: child, depth: below })
  }
  return rows
}

function kindOf({ entry }: ShownNode): OutlineRow["kind"] {
  if (entry.type === "compaction" || entry.type === "branch_summary") return "summary"
  return messageOf(entry)?.role === "user" ? "user" : "assistant"
}

function labelOf(tree: ShownTree, node: ShownNode): string {
  // Answers to one question begin alike, so they are numbered.
  if (kindOf(node) === "assistant") return `Answer ${siblingsOf(tree, node).indexOf(node) + 1}`
  if (kindOf(node) === "summary") return node.entry.type === "compaction" ? "Summarized" : "Summary of a branch"
  const message = messageOf(node.entry) ?? { content: node.entry["content"] as Message["content"] }
  const text = plainText(textOf(message.content).slice(0, MAX_UNITS)).slice(0, 120)
  return text === "" ? "(no text)" : text
}
