/** Migrates a log from version 1 to 2, and from version 2 to 3. */
import type { Report } from "../../format/diagnostics.ts"
import { shown } from "../../storage/options.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import type { LogRecord } from "../../format/line.ts"
import { isObject } from "../../format/shape.ts"
import type { Seq } from "../../storage/contract.ts"
import { timeOf } from "../../format/timestamp.ts"
import { type OlderLog, isRawLine } from "./records.ts"

/**
 * Version 2 turned the list into a tree: each entry gets an id and the previous entry as its parent, and a compaction gets the id of
 * its first kept entry in place of `firstKeptEntryIndex`. Ids depend on the log alone. An existing id or parent is kept.
 */
export function migrateV1ToV2(log: OlderLog, report: Report): OlderLog {
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
    const linked = record.type === "compaction" ? withFirstKept(entry, id, ids, index + 1, report) : entry
    ids.push(id)
    return linked
  })
  return { ...log, header: { ...log.header, version: 2 }, records }
}

function withFirstKept(
  compaction: LogRecord,
  id: string,
  ids: readonly (string | undefined)[],
  seq: Seq,
  report: Report,
): LogRecord {
  const { firstKeptEntryIndex: index, ...rest } = compaction
  if (index === undefined) return compaction
  const firstKeptEntryId = typeof index === "number" ? ids[index] : undefined
  if (firstKeptEntryId !== undefined) return { ...rest, type: compaction.type, firstKeptEntryId }
  const message = `Compaction ${id} keeps from record ${shown(index)} on, which is not an earlier entry; nothing before it is kept.`
  report({ code: "missing_first_kept", seq, entryId: id, message })
  return { ...compaction, firstKeptEntryId: id }
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
export function migrateV2ToV3(log: OlderLog): OlderLog {
  const records = log.records.map((record) => (isRawLine(record) ? record : renamed(record)))
  return { ...log, header: { ...log.header, version: 3 }, records }
}

function renamed(record: LogRecord): LogRecord {
  const message = record.type === "message" ? record["message"] : undefined
  if (!isObject(message) || message["role"] !== "hookMessage") return record
  return { ...record, message: { ...message, role: "custom" } }
}
