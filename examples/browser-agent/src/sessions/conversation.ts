/** The displayed state of a session at one of its leaves. */
import type { Entry, Session } from "@sessions/core"
import { sessionBranches, sessionTree } from "@sessions/core/transfer"
import { textOf } from "../agent/messages.ts"
import { type ContextBar, contextBar } from "./context-bar.ts"
import { type Line, linesOf, messageOf, type Unfinished, unfinishedOf } from "./lines.ts"
import { newestBelow, pathTo, type ShownNode, type ShownTree, shownTree } from "./tree.ts"

export interface Conversation {
  readonly id: string
  /** The parent of the next message; null for the beginning. */
  readonly leaf: string | null
  readonly tree: ShownTree
  readonly lines: readonly Line[]
  readonly bar: ContextBar
  readonly unfinished: Unfinished | undefined
  /** Why the session is read-only, as a sentence. */
  readonly readOnly: string | undefined
  /** Why the last automatic compaction failed, as a sentence. */
  readonly notSummarized: string | undefined
  /** The branches that other tabs have written and no one has settled, newest first. */
  readonly others: readonly OtherBranch[]
}

export interface OtherBranch {
  /** The last entry of its conversation. */
  readonly id: string
  /** The first question that only this branch has, shortened; its first other text if it has no question. */
  readonly text: string
  /** The number of its messages after the fork. */
  readonly messages: number
}

/** @param from the entry whose newest descendant is shown; undefined for the session's leaf */
export async function readConversation(
  session: Session,
  from: string | null | undefined,
  window: number,
): Promise<Conversation> {
  // Reads the whole log to show the tree. A page without a tree would read `session.messages()`, page by page.
  const tree = shownTree(await sessionTree(session))
  const leaf = leafFrom(tree, session.leafId, from)
  const path = pathTo(tree, leaf)
  const entries = tree.entries.slice()
  for (const { seq, entry } of path) entries[seq] = await withBlobs(session, entry)
  const bar = contextBar(entries, leaf, { header: session.header, window })
  return {
    id: session.id,
    leaf,
    tree,
    lines: linesOf(tree, path, { entries, bar }),
    bar,
    unfinished: unfinishedOf(path, entries, leaf),
    readOnly: session.diagnostics.find(({ code }) => code === "unknown_version")?.message,
    notSummarized: session.diagnostics.find(({ code }) => code === "compaction_failed")?.message,
    others: await othersOf(session, tree, path),
  }
}

async function othersOf(session: Session, tree: ShownTree, path: readonly ShownNode[]): Promise<OtherBranch[]> {
  const shown = new Set(path)
  const branches = (await sessionBranches(session)).filter(({ id, settled, current }) => {
    const node = tree.at.get(id)
    return !settled && !current && node !== undefined && !shown.has(node)
  })
  return branches.map(({ id, messages }) => {
    const apart = pathTo(tree, id).filter((node) => !shown.has(node))
    const said = apart.map(({ entry }) => messageOf(entry)).filter((message) => message !== undefined)
    const text = textOf((said.find(({ role }) => role === "user") ?? said[0])?.content)
    return { id, messages, text: text.trim().replace(/\s+/g, " ").slice(0, 80) }
  })
}

function leafFrom(tree: ShownTree, current: string | null, from: string | null | undefined): string | null {
  if (from === undefined || from === current) return current
  const node = from === null ? undefined : tree.at.get(from)
  return node === undefined ? current : newestBelow(node).tip
}

/** Loads the blobs of an entry; the tree holds references to them only. */
async function withBlobs(session: Session, entry: Entry): Promise<Entry> {
  return entry.blobs === undefined ? entry : ((await session.entry(entry.id)) ?? entry)
}
