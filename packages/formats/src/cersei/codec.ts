/** The lines that entries were made of. What a line has beside these is the codec's difference. */
import type { Entry } from "@sessions/core"
import { UNREADABLE } from "../base/json-lines.ts"
import { type Fields, fieldsOf, textOf } from "../base/values.ts"

export const FORMAT = "cersei"

/** The lines of an imported entry, as many as it was made of. They must never change: sources are stored as differences from them. */
export function encode(entry: Entry): readonly Fields[] {
  const { id: uuid, timestamp } = entry
  switch (entry.type) {
    case "message": {
      const { role, content = [] } = entry.message
      return [{ type: role, uuid, timestamp, message: { role, content: textOf(content) } }]
    }
    case "compaction":
      return [{ type: "summary", uuid, timestamp, summary: entry.summary }]
    case "tombstone":
      return [{ type: "tombstone", timestamp, deleted_uuid: entry.targetId }]
    case "custom":
      return [entry.customType === UNREADABLE ? {} : fieldsOf(entry.data)]
    default:
      return [{}]
  }
}
