/**
 * Migrates a log from version 3 to version 4: converts header and entries, resolves references, adds the context state to
 * compactions and resets, and turns a title outside the entries into an entry.
 */
import type { Report } from "../../format/diagnostics.ts"
import { type Header, FORMAT, VERSION, type ParentSession } from "../../format/header.ts"
import type { Entry } from "../../format/entry.ts"
import { storesState } from "../../format/entry-types.ts"
import type { OlderFormat, OlderVersion } from "../../format/identify.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import type { LogRecord } from "../../format/line.ts"
import { timeOf } from "../../format/timestamp.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { ROOT } from "../../log/path.ts"
import { isObject } from "../../format/shape.ts"
import { isSessionId } from "../../storage/checks.ts"
import { entryToV4, titleOf } from "./entry.ts"
import { entriesInForce } from "./in-force.ts"
import { type Links, linkEntries, missingFirstKept } from "./links.ts"
import { type CurrentLog, type OlderLog, type RawLine, isRawLine, isoOf, toEntryLog } from "./records.ts"
import { statesToStore } from "./states.ts"
import { withSections } from "./system-prompt.ts"

/** Format and version of an older log, recorded in the `origin` of its migrated header. */
export interface Source {
  readonly format: OlderFormat
  readonly version: OlderVersion
}

/**
 * Handles the dialects of version 3 entry by entry, by the fields of the entry, because both systems may have written to the same
 * log.
 */
export function migrateV3ToV4(older: OlderLog, source: Source, report: Report, id?: string): CurrentLog {
  const header = headerToV4(older.header, source, id)
  const entries = entriesToV4(older, header.timestamp)
  const title = titleEntry(older.titleSlot, header, entries)
  const titled = title === undefined ? entries : [...entries, title]
  const converted = [...titled, ...entriesInForce(titled)]

  const log = toEntryLog(converted)
  const links = linkEntries(log)
  const states = statesToStore(log, links.parents, header)
  const records = converted.map((record) => {
    if (isRawLine(record)) return record
    const entry = withReferences(record, links, log, report)
    return storesState(entry.type) ? ({ ...entry, state: states.get(entry.seq) } as Entry) : entry
  })
  return { header, records }
}

/**
 * The id is the given one, else that of the older header if it is a valid session id, else an id made from the time of the header.
 * Unknown keys are kept. `provider`, `modelId` and `thinkingLevel` stay in the header as the initial context state.
 */
function headerToV4(older: LogRecord, source: Source, id?: string): Header {
  const { type: _, format: __, version: ___, id: olderId, timestamp, parentSession, branchedFrom, ...rest } = older
  const time = timeOf(timestamp)
  const parent = parentOf(parentSession, branchedFrom)
  return {
    type: "session",
    format: FORMAT,
    version: VERSION,
    id: id ?? (isSessionId(olderId) ? olderId : ulidAt(time ?? 0, 0)),
    timestamp: typeof timestamp === "string" ? timestamp : isoOf(time ?? 0),
    ...rest,
    ...parent,
    origin: { ...source, ...(typeof olderId === "string" ? { id: olderId } : {}) },
  }
}

/** Older systems name the parent session by a path or other text, which is kept as `ref`. */
function parentOf(
  parentSession: unknown,
  branchedFrom: unknown,
): { parentSession?: ParentSession; branchedFrom?: unknown } {
  const unused = branchedFrom === undefined ? {} : { branchedFrom }
  if (typeof parentSession === "string") return { parentSession: { ref: parentSession }, ...unused }
  if (parentSession !== undefined && parentSession !== null) {
    return { parentSession: parentSession as ParentSession, ...unused }
  }
  return typeof branchedFrom === "string" ? { parentSession: { ref: branchedFrom } } : unused
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
  const base = { type: "title_change" as const, id, ...position, timestamp }
  return { ...base, ...payload, ...base } as Entry
}

/** The first kept entry of a compaction that keeps nothing, in oh-my-pi. */
const KEEP_NOTHING = "compaction:keep-nothing"

/**
 * The entry with the references of version 4: the first kept entry of a compaction, on its path and with its seq, and the leaf that
 * a branch summary abandoned.
 */
function withReferences(entry: Entry, links: Links, log: EntryLog, report: Report): Entry {
  if (entry.type === "message") return withPrompt(entry, links)
  if (entry.type === "compaction") return withFirstKept(entry, links, report)
  return entry.type === "branch_summary" ? withAbandonedLeaf(entry, links, log) : entry
}

function withFirstKept(entry: Entry, links: Links, report: Report): Entry {
  const { seq, id, firstKeptEntryId } = entry
  const firstKeptSeq = links.firstKept.get(seq)
  if (firstKeptSeq !== undefined) return { ...entry, firstKeptSeq }
  if (firstKeptEntryId !== id && firstKeptEntryId !== KEEP_NOTHING) report(missingFirstKept(entry))
  return { ...entry, firstKeptEntryId: id, firstKeptSeq: seq }
}

function withPrompt(entry: Entry, links: Links): Entry {
  const message: unknown = entry["message"]
  if (!isObject(message) || message["sections"] === undefined) return entry
  const isFirst = links.hasSystem[links.parents[entry.seq] ?? ROOT] !== 1
  return { ...entry, message: withSections(message, isFirst) } as Entry
}

/** oh-my-pi, and pi before 0.87, wrote the target into `fromId`, which is the parent of the entry already. */
function withAbandonedLeaf(entry: Entry, links: Links, log: EntryLog): Entry {
  const target = entry.parentId ?? "root"
  if (entry["fromId"] !== target) return entry
  const abandoned = links.lastOutside[entry.seq] ?? ROOT
  return { ...entry, fromId: log.at(abandoned)?.id ?? "root" }
}
