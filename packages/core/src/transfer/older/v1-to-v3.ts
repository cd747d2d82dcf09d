/** Migrates a log from version 1 to 2, and from version 2 to 3. */
import type { Diagnostic } from "../../format/diagnostics.ts"
import { shown } from "../../format/identify.ts"
import { ulidAt } from "../../format/ids.ts"
import type { LogRecord } from "../../format/line.ts"
import { isObject } from "../../format/shape.ts"
import { type Migrated, type OlderLog, isRawLine, timeOf } from "./log.ts"

/**
 * Version 2 turned the list into a tree: each entry gets an id and the previous entry as its parent, and a compaction gets the id of
 * its first kept entry in place of `firstKeptEntryIndex`. Ids depend on the log alone. An existing id or parent is kept.
 */
export function migrateV1ToV2(log: OlderLog): Migrated<OlderLog> {
  const diagnostics: Diagnostic[] = []
  /** Ids by `firstKeptEntryIndex`, which counts the lines that are JSON; the header has index 0. */
  const ids: (string | undefined)[] = [undefined]
  let time = timeOf(log.header["timestamp"]) ?? 0
  let parentId: string | null = null

  const records = log.records.map((record, index) => {
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
    if (linked === undefined) diagnostics.push(notKept(id, kept, index + 1))
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
  const message = `Compaction ${entryId} keeps from record ${shown(index)} on, which is not an earlier entry; nothing before it is kept.`
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

/** Version 3 renamed the role `hookMessage`, of messages by extensions, to `custom`. */
export function migrateV2ToV3(log: OlderLog): Migrated<OlderLog> {
  const records = log.records.map((record) => (isRawLine(record) ? record : renamed(record)))
  return { log: { ...log, header: { ...log.header, version: 3 }, records }, diagnostics: [] }
}

function renamed(record: LogRecord): LogRecord {
  const message = record.type === "message" ? record["message"] : undefined
  if (!isObject(message) || message["role"] !== "hookMessage") return record
  return { ...record, message: { ...message, role: "custom" } }
}
