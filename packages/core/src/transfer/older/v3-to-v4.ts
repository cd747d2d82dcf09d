/**
 * Migrates a log from version 3 to version 4: converts header and entries, resolves references, adds the context state to
 * compactions and resets, and turns a title outside the entries into an entry.
 */
import { storesState } from "../../context/state.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import { shown } from "../../format/identify.ts"
import { ulidAt } from "../../format/ids.ts"
import type { LogRecord } from "../../format/line.ts"
import type { Entry } from "../../format/entry.ts"
import type { Header } from "../../format/header.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import { ROOT } from "../../log/path.ts"
import { entryToV4, titleOf } from "./entry.ts"
import { type Source, headerToV4 } from "./header.ts"
import { type Links, linkSlots } from "./links.ts"
import { type CurrentLog, type Migrated, type OlderLog, type RawLine, isRawLine, timeOf } from "./log.ts"
import { statesToStore } from "./states.ts"

/**
 * Handles the dialects of version 3 entry by entry, by the fields of the entry, because both systems may have written to the same
 * log.
 */
export function migrateV3ToV4(log: OlderLog, source: Source, id?: string): Migrated<CurrentLog> {
  const header = headerToV4(log.header, source, id)
  const entries = entriesToV4(log, header.timestamp)
  const title = titleEntry(log.titleSlot, header, entries)
  const converted = title === undefined ? entries : [...entries, title]

  const slots: readonly EntrySlot[] = [
    undefined,
    ...converted.map((record) => (isRawLine(record) ? undefined : record)),
  ]
  const links = linkSlots(slots)
  const states = statesToStore(slots, links.parents, header)
  const diagnostics: Diagnostic[] = []
  const records = converted.map((record) => {
    if (isRawLine(record)) return record
    const { entry, diagnostic } = withReferences(record, links, slots)
    if (diagnostic !== undefined) diagnostics.push(diagnostic)
    return storesState(entry.type) ? { ...entry, state: states.get(entry.seq) } : entry
  })
  return { log: { header, records }, diagnostics }
}

function entriesToV4(log: OlderLog, start: string): readonly (Entry | RawLine)[] {
  let parentId: string | null = null
  let timestamp = start
  return log.records.map((record, index) => {
    if (isRawLine(record)) return record
    const entry = entryToV4(record, { seq: index + 1, parentId, timestamp })
    parentId = entry.id
    timestamp = entry.timestamp
    return entry
  })
}

/**
 * The title outside the entries, as a new last entry: from the title slot, which its writer keeps current; else from the header,
 * unless an entry names the session, since that is newer. Appended, because an entry in front would shift all positions.
 */
function titleEntry(
  titleSlot: LogRecord | undefined,
  header: Header,
  records: readonly (Entry | RawLine)[],
): Entry | undefined {
  const last = records.findLast((record) => !isRawLine(record)) as Entry | undefined
  const timestamp = last?.timestamp ?? header.timestamp
  const position = { parentId: last?.id ?? null, seq: records.length + 1 }
  if (titleSlot !== undefined) {
    const { type: _, v: __, pad: ___, ...rest } = titleSlot
    const { title, updatedAt } = rest
    const slotTime = typeof updatedAt === "string" && timeOf(updatedAt) !== undefined ? updatedAt : timestamp
    return titleChange(slotTime, position, { source: "user", ...rest, title: titleOf(title) })
  }
  const named = titleOf(header.title)
  if (named === null || records.some((record) => !isRawLine(record) && record.type === "title_change")) return undefined
  return titleChange(timestamp, position, { title: named, source: header["titleSource"] ?? "user" })
}

function titleChange(
  timestamp: string,
  position: { readonly parentId: string | null; readonly seq: number },
  payload: Readonly<Record<string, unknown>>,
): Entry {
  const id = ulidAt(timeOf(timestamp) ?? 0, position.seq)
  const base = { type: "title_change", id, ...position, timestamp }
  return { ...base, ...payload, ...base }
}

/** The first kept entry of a compaction that keeps nothing, in oh-my-pi. */
const KEEP_NOTHING = "compaction:keep-nothing"

/**
 * The entry with the references of version 4: the first kept entry of a compaction, on its path and with its seq, and the leaf that
 * a branch summary abandoned.
 */
function withReferences(
  entry: Entry,
  links: Links,
  slots: readonly EntrySlot[],
): { readonly entry: Entry; readonly diagnostic?: Diagnostic } {
  if (entry.type === "compaction") return withFirstKept(entry, links)
  if (entry.type === "branch_summary") return { entry: withAbandonedLeaf(entry, links, slots) }
  return { entry }
}

function withFirstKept(entry: Entry, links: Links): { readonly entry: Entry; readonly diagnostic?: Diagnostic } {
  const { seq, id } = entry
  const firstKeptEntryId = entry["firstKeptEntryId"]
  const firstKeptSeq = links.kept.get(seq)
  if (firstKeptSeq !== undefined && links.isAncestor(firstKeptSeq, seq)) return { entry: { ...entry, firstKeptSeq } }
  const nothing = { ...entry, firstKeptEntryId: id, firstKeptSeq: seq }
  if (firstKeptEntryId === id || firstKeptEntryId === KEEP_NOTHING) return { entry: nothing }
  const message = `Compaction ${id} (line ${seq}) keeps from ${shown(firstKeptEntryId)} on, which is not on its path; nothing before it is kept.`
  return { entry: nothing, diagnostic: { code: "missing_first_kept", seq, entryId: id, message } }
}

/** oh-my-pi, and pi before 0.87, wrote the target into `fromId`, which is the parent of the entry already. */
function withAbandonedLeaf(entry: Entry, links: Links, slots: readonly EntrySlot[]): Entry {
  const target = entry.parentId ?? "root"
  if (entry["fromId"] !== target) return entry
  const abandoned = links.lastOutside[entry.seq] ?? ROOT
  return { ...entry, fromId: slots[abandoned]?.id ?? "root" }
}
