/** Files without branches whose own lines are written again, as long as the session is what they say. */
import type { Entry } from "@sessions/core"
import { readSource, recordsOf } from "./codec.ts"
import type { WriteOptions } from "./format.ts"
import { UNREADABLE } from "./json-lines.ts"
import { type Fields, fieldsOf } from "./values.ts"
import { originalOf } from "./well-formed.ts"
import type { PlacedRecord } from "./written-lines.ts"
import { isConversation, type LogIndex } from "./written-path.ts"

/** Whether the file's own lines are the session, with at most messages after them. */
export function canRestore(entries: readonly Entry[], index: LogIndex, o: WriteOptions): boolean {
  if (o.branches === "path" && index.messagesOffPath > 0) return false
  const imported = entries.filter((entry) => readSource(entry) !== undefined)
  const last = imported.findLast((entry) => isConversation(entry) || entry.type === "leaf")
  if (last !== undefined && !index.isOnPath(last.seq)) return false
  return entries.every((entry) => {
    if (index.isDeleted(entry.seq) || index.editOf(entry.seq) !== undefined) return false
    if (readSource(entry) !== undefined) return true
    return index.isWritten(entry.seq) && !REWRITES.has(entry.type)
  })
}

/** Entries after which the context is not what the lines before them say. */
const REWRITES: ReadonlySet<string> = new Set(["compaction", "reset_boundary", "leaf"])

/** The lines that entries were read from. `encode` makes the record of an entry. */
export function importedLines(entries: readonly Entry[], encode: (entry: Entry) => Fields): readonly PlacedRecord[] {
  return entries.flatMap((entry) => {
    const source = readSource(entry)
    if (source === undefined) return []
    if (entry.type === "custom" && entry.customType === UNREADABLE)
      return [{ at: source.at[0] ?? 0, record: fieldsOf(entry.data)["text"] }]
    const encoded = encode(originalOf(entry))
    return recordsOf(
      source,
      source.at.map(() => encoded),
    )
  })
}

/** An automatic title after one of the user is no title. */
export function titleOf(entries: readonly Entry[], index: LogIndex): string | undefined {
  let found: { readonly title: string; readonly source: string } | undefined
  for (const entry of entries) {
    if (entry.type !== "title_change" || !index.isWritten(entry.seq)) continue
    const { title, source } = entry
    if (source === "auto" && found?.source === "user") continue
    found = title === null ? undefined : { title, source }
  }
  return found?.title
}
