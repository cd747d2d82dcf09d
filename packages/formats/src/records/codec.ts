/** The records that entries were made of. What a record has beside these fields is the codec's difference. */
import type { Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf } from "../base/values.ts"

export const FORMAT = "records"

/** The record of an imported entry. It must never change: sources are stored as differences from it. */
export function encode(entry: Entry): Fields {
  const { timestamp } = entry
  const record = (recordType: string, fields: Fields): Fields => ({
    recordType,
    schemaVersion: 1,
    timestamp,
    ...fields,
  })
  switch (entry.type) {
    case "message":
      return record("message", entry.message)
    case "compaction": {
      const { summary, tokensBefore, readFiles, modifiedFiles } = entry
      return record("compaction", { summary, tokensBefore, readFiles, modifiedFiles })
    }
    case "custom":
      return entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)
    default:
      return {}
  }
}
