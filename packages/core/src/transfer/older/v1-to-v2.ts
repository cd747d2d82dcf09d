import type { Diagnostic } from "../../format/diagnostics.ts"
import { ulidAt } from "../../format/ids.ts"
import type { LogRecord } from "../../format/line.ts"
import { type Migrated, type OlderLog, isRawLine, timeOf } from "./log.ts"
import { shown } from "../../format/identify.ts"

/**
 * Version 2 made the list a tree: every entry gets an id, the entry before it as its parent, and a compaction the id of its first
 * kept entry for `firstKeptEntryIndex`. Ids depend on the log alone. An entry that has an id or a parent keeps it.
 */
export function migrateV1ToV2(log: OlderLog): Migrated<OlderLog> {
  const diagnostics: Diagnostic[] = []
  /** Ids by what `firstKeptEntryIndex` counts: lines that are JSON, the header (0) included. */
  const ids: (string | undefined)[] = [undefined]
  let time = timeOf(log.header["timestamp"]) ?? 0
  let parentId: string | null = null

  const records = log.records.map((record, place) => {
    if (isRawLine(record)) {
      if (isJson(record.raw)) ids.push(undefined)
      return record
    }
    time = timeOf(record["timestamp"]) ?? time
    const id = typeof record["id"] === "string" ? record["id"] : ulidAt(time, ids.length)
    const entry: LogRecord = { parentId, ...record, id }
    parentId = id
    const kept = record.type === "compaction" ? record["firstKeptEntryIndex"] : undefined
    const linked = kept === undefined ? entry : withFirstKept(entry, typeof kept === "number" ? ids[kept] : undefined)
    if (linked === undefined) diagnostics.push(notKept(id, kept, place + 1))
    ids.push(id)
    return linked ?? { ...entry, firstKeptEntryId: id }
  })
  return { log: { ...log, header: { ...log.header, version: 2 }, records }, diagnostics }
}

function withFirstKept(compaction: LogRecord, firstKeptEntryId: string | undefined): LogRecord | undefined {
  if (firstKeptEntryId === undefined) return undefined
  const { firstKeptEntryIndex: _, ...rest } = compaction
  return { ...rest, type: compaction.type, firstKeptEntryId }
}

function notKept(entryId: string, index: unknown, seq: number): Diagnostic {
  const message = `Compaction ${entryId} keeps from record ${shown(index)} on, which is no entry before it; nothing before it is kept.`
  return { code: "missing_first_kept", seq, entryId, message }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
