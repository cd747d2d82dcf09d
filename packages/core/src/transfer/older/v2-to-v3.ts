import type { LogRecord } from "../../format/line.ts"
import { isObject } from "../../format/shape.ts"
import { type Migrated, type OlderLog, isRawLine } from "./log.ts"

/** Version 3 renamed the role of extensions' messages: `hookMessage` is `custom`. */
export function migrateV2ToV3(log: OlderLog): Migrated<OlderLog> {
  const records = log.records.map((record) => (isRawLine(record) ? record : renamed(record)))
  return { log: { ...log, header: { ...log.header, version: 3 }, records }, diagnostics: [] }
}

function renamed(record: LogRecord): LogRecord {
  const message = record.type === "message" ? record["message"] : undefined
  if (!isObject(message) || message["role"] !== "hookMessage") return record
  return { ...record, message: { ...message, role: "custom" } }
}
