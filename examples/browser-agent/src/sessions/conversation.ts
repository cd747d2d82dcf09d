/** What is shown of a session, seen from one of its leaves. */
import type { Entry, Session } from "@sessions/core"
import { type ContextBar, contextBar } from "./context-bar.ts"
import { type Line, linesOf, messageOf, type Unfinished, unfinishedOf } from "./lines.ts"
import { newestBelow, pathTo, type ShownNode, type ShownTree, shownTree } from "./tree.ts"

export interface Conversation {
  readonly id: string
  /** The entry that the next message hangs on; null: the beginning. */
  readonly leaf: string | null
  readonly tree: ShownTree
  readonly lines: readonly Line[]
  readonly bar: ContextBar
  readonly unfinished: Unfinished | undefined
  /** Why it can be read only: a sentence. */
  readonly readOnly: string | undefined
  /** Why it could not be summarized when it was time: a sentence. */
  readonly notSummarized: string | undefined
  /** Of another tab's branch that was written at the same moment as this one. */
  readonly otherLeaf: string | undefined
}

/** `from` undefined: as the session stands; an entry: as what has grown on it since stands. */
export async function readConversation(
  session: Session,
  from: string | null | undefined,
  window: number,
): Promise<Conversation> {
  // The whole log, for the sake of the tree. A page without one would read `session.messages()`, page by page.
  const tree = shownTree(await session.tree())
  const leaf = leafFrom(tree, session.leafId, from)
  const path = pathTo(tree, leaf)
  const entries = tree.entries.slice()
  for (const { seq, entry } of path) entries[seq] = await whole(session, entry)
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

/** Told until the conversation has gone on here. */
function otherLeafOf(session: Session, tree: ShownTree, path: readonly ShownNode[]): string | undefined {
  const diverged = session.diagnostics.find(({ code }) => code === "diverged")
  for (const id of [diverged?.leaf, diverged?.otherLeaf]) {
    if (id === undefined || !tree.at.has(id)) continue
    const there = new Set(pathTo(tree, id))
    const apart = path.filter((node) => !there.has(node))
    const asked = apart.filter(({ entry }) => messageOf(entry)?.role === "user").length
    if (!there.has(path.at(-1) as ShownNode) && apart.length > 0 && asked <= 1) return id
  }
  return undefined
}

function leafFrom(tree: ShownTree, current: string | null, from: string | null | undefined): string | null {
  if (from === undefined || from === current) return current
  const node = from === null ? undefined : tree.at.get(from)
  return node === undefined ? current : newestBelow(node).tip
}

/** What is too long for a line lies beside the log, and the tree has a reference in its place. */
async function whole(session: Session, entry: Entry): Promise<Entry> {
  return entry.blobs === undefined ? entry : ((await session.entry(entry.id)) ?? entry)
}
