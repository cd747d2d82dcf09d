/** The displayed state of a session at one of its leaves. */
import type { Entry, Session } from "@sessions/core"
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
  /** The leaf of a branch that another tab wrote at the same time as this one. */
  readonly otherLeaf: string | undefined
}

/** @param from the entry whose newest descendant is shown; undefined for the session's leaf */
export async function readConversation(
  session: Session,
  from: string | null | undefined,
  window: number,
): Promise<Conversation> {
  // Reads the whole log to show the tree. A page without a tree would read `session.messages()`, page by page.
  const tree = shownTree(await session.tree())
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
    otherLeaf: otherLeafOf(session, tree, path),
  }
}

/** Undefined as soon as the conversation was continued here. */
function otherLeafOf(session: Session, tree: ShownTree, path: readonly ShownNode[]): string | undefined {
  const diverged = session.diagnostics.find(({ code }) => code === "diverged")
  for (const id of [diverged?.leaf, diverged?.otherLeaf]) {
    if (id === undefined || id === null || !tree.at.has(id)) continue
    const there = new Set(pathTo(tree, id))
    const apart = path.filter((node) => !there.has(node))
    const questions = apart.filter(({ entry }) => messageOf(entry)?.role === "user").length
    if (!there.has(path.at(-1) as ShownNode) && apart.length > 0 && questions <= 1) return id
  }
  return undefined
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
