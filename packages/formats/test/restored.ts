/** Restores the records of a file from its log, for formats that are only read: nothing of the file may be lost. */
import type { Entry } from "@sessions/core"
import { readSource, recordsOf } from "../src/base/codec.ts"
import { UNREADABLE } from "../src/base/json-lines.ts"
import { unknownRecordOf } from "../src/base/record-types.ts"
import { type Fields, fieldsOf } from "../src/base/values.ts"

/** `encode`: the records of an entry, as many as it was made of. */
export function restored(entries: readonly Entry[], encode: (entry: Entry) => readonly Fields[]): readonly unknown[] {
  const lines = entries.flatMap((stored) => {
    const entry = unknownRecordOf(stored) ?? stored
    const source = readSource(entry)
    if (source === undefined) return []
    if (entry.type === "custom" && entry.customType === UNREADABLE) {
      return [{ at: source.at[0] ?? 0, record: fieldsOf(entry.data)["text"] }]
    }
    return recordsOf(source, encode(entry))
  })
  return lines.sort((a, b) => a.at - b.at).map(({ record }) => record)
}
