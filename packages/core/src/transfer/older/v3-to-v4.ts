import { storesState } from "../../context/state.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/records.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import { entryToV4 } from "./entry.ts"
import { type Source, headerToV4 } from "./header.ts"
import { linkSlots } from "./links.ts"
import { type CurrentLog, type Migrated, type OlderLog, type RawLine, isRawLine } from "./log.ts"
import { withReferences } from "./references.ts"
import { statesToStore } from "./states.ts"
import { titleEntry } from "./titles.ts"

/**
 * Version 4 is ours. The dialects of version 3 are not told apart here: each entry says by its fields which it is, and a log that
 * both systems have written holds both.
 */
export function migrateV3ToV4(log: OlderLog, source: Source, id?: string): Migrated<CurrentLog> {
  const header = headerToV4(log.header, source, id)
  const entries = entriesToV4(log, header.timestamp)
  const title = titleEntry(log.titleSlot, header, entries)
  const placed = title === undefined ? entries : [...entries, title]

  const slots: readonly EntrySlot[] = [undefined, ...placed.map((record) => (isRawLine(record) ? undefined : record))]
  const links = linkSlots(slots)
  const states = statesToStore(slots, links.parents, header)
  const diagnostics: Diagnostic[] = []
  const records = placed.map((record) => {
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
  return log.records.map((record, place) => {
    if (isRawLine(record)) return record
    const entry = entryToV4(record, { seq: place + 1, parentId, timestamp })
    parentId = entry.id
    timestamp = entry.timestamp
    return entry
  })
}
