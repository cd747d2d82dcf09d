/**
 * The system messages that a compaction includes. A summary does not contain them, and they stay in force: each compaction has a copy of
 * those before its kept part, with their edits, so that a context reads no line before that part.
 */
import type { IncludedMessage, Entry } from "../format/entry.ts"
import type { SystemMessage } from "../format/message.ts"
import { type Fields, isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"
import { replacementOf } from "./content.ts"
import { type BlobPointers, movedPointers } from "./state-blobs.ts"
import type { SelectedEntry } from "./types.ts"

/**
 * The messages that a compaction includes, as entries with their own ids, without those that were deleted after it.
 * `edits` are those on the path, by the seqs of the edited entries, or by the ids of those that are not loaded.
 */
export function includedEntries(
  log: EntryLog,
  compaction: Seq,
  edits: ReadonlyMap<Seq | string, Entry>,
): { readonly system: readonly SelectedEntry[]; readonly question: readonly SelectedEntry[] } {
  const holder = log.at(compaction) as Entry
  const { system, question, timestamp } = holder
  const included = (
    item: unknown,
    pointer: string,
    isRole: (message: unknown) => boolean,
  ): readonly SelectedEntry[] => {
    const { id, message } = isObject(item) ? item : ({} as Fields)
    if (typeof id !== "string" || !isRole(message) || log.deletesAfter(compaction, id)) return []
    const blobs = Object.fromEntries(movedPointers(holder, `${pointer}/message`, "/message"))
    const place = { id, parentId: null, seq: compaction, timestamp }
    const entry = { type: "message", ...place, message, blobs } as unknown as Entry
    return [{ seq: compaction, entry, edit: edits.get(log.find(id, compaction) ?? id), included: true }]
  }
  return {
    system: Array.isArray(system)
      ? system.flatMap((item, index) => included(item, `/system/${index}`, isSystemMessage))
      : [],
    question: included(question, "/question", (message) => isObject(message) && message["role"] === "user"),
  }
}

/**
 * The messages that a new compaction includes: the system messages of the context before its first kept entry. `before` are entries of the same append
 * that precede the compaction; an unknown first kept entry, as its own id, keeps nothing.
 */
export function messagesToInclude(
  log: EntryLog,
  context: readonly SelectedEntry[],
  before: readonly Entry[],
  firstKeptEntryId: string,
): { readonly system: readonly IncludedMessage[]; readonly blobs: BlobPointers } {
  const firstKept = before.find(({ id }) => id === firstKeptEntryId)?.seq ?? log.find(firstKeptEntryId)
  const candidates: readonly SelectedEntry[] = [...context, ...before.map((entry) => ({ seq: entry.seq, entry }))]
  const system: IncludedMessage[] = []
  const blobs: [pointer: string, encoding: "utf8" | "base64"][] = []
  for (const { seq, entry, edit, included } of candidates) {
    const message: unknown = entry["message"]
    if (entry.type !== "message" || !isSystemMessage(message)) continue
    if (included !== true && firstKept !== undefined && seq >= firstKept) continue
    const replacement = edit === undefined ? undefined : replacementOf(edit)
    if (replacement === null) continue
    const place = `/system/${system.length}/message`
    if (replacement === undefined) {
      blobs.push(...movedPointers(entry, "/message", place))
      system.push({ id: entry.id, message })
    } else {
      blobs.push(...movedPointers(edit as Entry, "/replacement/content", `${place}/content`))
      system.push({ id: entry.id, message: { ...message, content: replacement } })
    }
  }
  return { system, blobs: Object.fromEntries(blobs) }
}

function isSystemMessage(message: unknown): message is SystemMessage {
  return isObject(message) && message["role"] === "system"
}
