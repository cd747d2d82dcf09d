/** What a writer puts into a file of another format: the entries on the current path, without deleted ones and with edited contents. */
import type { ContentBlock, Entry } from "@sessions/core"
import { isAnnotationType } from "@sessions/core/format"
import { readSource } from "./codec.ts"
import type { SessionToWrite } from "./format.ts"
import { isObject } from "./values.ts"

/** The positions of a session's entries, found in one reading, so that a second one can write each entry as it comes. */
export interface LogIndex {
  /** The id of the last entry; null if the log ends without a leaf. */
  readonly leafId: string | null
  /** Whether the entry was not deleted and is on the current path, or is an annotation of one that is. */
  isWritten(seq: number): boolean
  /** Whether the entry is on the current path, deleted or not. */
  isOnPath(seq: number): boolean
  /** Whether a tombstone deletes the entry. */
  isDeleted(seq: number): boolean
  /** The latest edit of an entry on the current path. */
  editOf(seq: number): Edit | undefined
  /** The line numbers of the sources of all entries that were not deleted, or of those that {@link isWritten}, ascending. */
  linesOf(branches: "all" | "path"): readonly number[]
  /** Seq of the entry that a reference in the entry at `before` means; undefined if it is missing. */
  find(id: string, before: number): number | undefined
  /** Messages off the current path. */
  readonly messagesOffPath: number
}

export interface Edit {
  /** Null: the entry is left out of the context. */
  readonly content: readonly ContentBlock[] | null
  /** The importer made it of records of the source, as for the entries that a compaction does not keep. */
  readonly isImported: boolean
}

/** Reads the session once. Keeps ids and references of all entries in memory, but no contents other than edits. */
export async function indexLog(session: SessionToWrite): Promise<LogIndex> {
  const parents: number[] = []
  const seqs: number[] = []
  const annotations = new Set<number>()
  const places = new Map<string, number[]>()
  const messages: number[] = []
  const tombstones: { readonly targetId: string; readonly before: number }[] = []
  const edits: (Edit & { readonly at: number; readonly targetId: string })[] = []
  const lines: { readonly seq: number; readonly at: readonly number[] }[] = []
  let last: Entry | undefined

  const find = (id: string, before: number): number | undefined => {
    const found = places.get(id)
    for (let i = (found?.length ?? 0) - 1; i >= 0; i--) if ((found?.[i] as number) < before) return found?.[i]
    return undefined
  }
  for await (const entry of session.entries()) {
    const { seq, parentId } = entry
    // A parent that is missing is bridged, as core does it.
    parents[seq] = parentId === null ? ROOT : (find(parentId, seq) ?? seqs.at(-1) ?? ROOT)
    seqs.push(seq)
    if (isAnnotationType(entry.type)) annotations.add(seq)
    const same = places.get(entry.id)
    if (same === undefined) places.set(entry.id, [seq])
    else same.push(seq)
    if (entry.type === "message") messages.push(seq)
    else if (entry.type === "tombstone") tombstones.push({ targetId: entry.targetId, before: seq })
    else if (entry.type === "context_edit") {
      const { targetId, replacement } = entry
      const content = replacement === null ? null : isObject(replacement) ? replacement.content : undefined
      if (content === null || Array.isArray(content))
        edits.push({ at: seq, targetId, content, isImported: readSource(entry) !== undefined })
    }
    const { at } = readSource(entry) ?? { at: [] }
    if (at.length > 0) lines.push({ seq, at })
    last = entry
  }
  const path = new Set<number>()
  for (let seq = last?.seq ?? ROOT; seq !== ROOT; seq = parents[seq] ?? ROOT) path.add(seq)
  const deleted = new Set(tombstones.map(({ targetId, before }) => find(targetId, before)))
  const edited = new Map<number, Edit>()
  for (const { at, targetId, ...edit } of edits) {
    const target = path.has(at) && !deleted.has(at) ? find(targetId, at) : undefined
    if (target !== undefined) edited.set(target, edit)
  }
  const anchorOf = (seq: number): number => {
    let anchor = seq
    while (annotations.has(anchor) && !path.has(anchor)) anchor = parents[anchor] ?? ROOT
    return anchor
  }
  const isPart = (seq: number): boolean => {
    const anchor = anchorOf(seq)
    return anchor === ROOT || path.has(anchor)
  }
  return {
    leafId: last === undefined || (last.type === "leaf" && last.parentId === null) ? null : last.id,
    isWritten: (seq) => !deleted.has(seq) && isPart(seq),
    linesOf(branches) {
      const written = lines.filter(({ seq }) => !deleted.has(seq) && (branches === "all" || isPart(seq)))
      return [...new Set(written.flatMap(({ at }) => at))].sort((a, b) => a - b)
    },
    isOnPath: (seq) => path.has(seq),
    isDeleted: (seq) => deleted.has(seq),
    editOf: (seq) => edited.get(seq),
    find,
    messagesOffPath: messages.filter((seq) => !path.has(seq)).length,
  }
}

const ROOT = -1

/** Whether an entry is part of the conversation: others describe the session and may be left out of a file without a loss to a model. */
export function isConversation({ type }: Entry): boolean {
  return !isAnnotationType(type) && type !== "leaf"
}
