import { ulidAt } from "../../format/ids.ts"
import type { LogRecord } from "../../format/line.ts"
import type { Entry, Header } from "../../format/records.ts"
import { titleOf } from "./entry.ts"
import { type RawLine, isRawLine, timeOf } from "./log.ts"

/**
 * The title that stands outside the entries, as the entry that ends the log: the slot's, which its writer keeps in force; else
 * the header's, unless an entry names the session, which is newer. Not in front, where it would move every later entry.
 */
export function titleEntry(
  titleSlot: LogRecord | undefined,
  header: Header,
  records: readonly (Entry | RawLine)[],
): Entry | undefined {
  const last = records.findLast((record) => !isRawLine(record)) as Entry | undefined
  const timestamp = last?.timestamp ?? header.timestamp
  const place = { parentId: last?.id ?? null, seq: records.length + 1 }
  if (titleSlot !== undefined) {
    const { type: _, v: __, pad: ___, ...rest } = titleSlot
    const { title, updatedAt } = rest
    const slotTime = typeof updatedAt === "string" && timeOf(updatedAt) !== undefined ? updatedAt : timestamp
    return entryOf(slotTime, place, { source: "user", ...rest, title: titleOf(title) })
  }
  const named = titleOf(header.title)
  if (named === null || records.some((record) => !isRawLine(record) && record.type === "title_change")) return undefined
  return entryOf(timestamp, place, { title: named, source: header["titleSource"] ?? "user" })
}

function entryOf(
  timestamp: string,
  place: { readonly parentId: string | null; readonly seq: number },
  payload: Readonly<Record<string, unknown>>,
): Entry {
  const id = ulidAt(timeOf(timestamp) ?? 0, place.seq)
  const base = { type: "title_change", id, ...place, timestamp }
  return { ...base, ...payload, ...base }
}
