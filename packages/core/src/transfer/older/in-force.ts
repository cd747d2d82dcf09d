/**
 * Annotations that say what the source of a migration shows. Older systems show the last title, label or metadata value of the log; here the
 * greatest (time, id) counts. Where these differ, the entry in force is repeated at the end. Pure.
 */
import type { Entry } from "../../format/entry.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import { textOf } from "../../format/stored-text.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { laterOf, replaces, type WriteTime, writeTimeOf } from "../../log/last-writer-wins.ts"
import { isoOf, isRawLine, type RawLine, toEntryLog } from "./records.ts"

interface Found {
  readonly last: Entry
  readonly greatest: WriteTime
}

/** The entries to add behind these records, with ids and times that follow from the records. */
export function entriesInForce(records: readonly (Entry | RawLine)[]): readonly Entry[] {
  const log = toEntryLog(records)
  const found = new Map<string, Found>()
  let latest: WriteTime = [0, ""]
  let end: Entry | undefined
  for (const entry of records) {
    if (isRawLine(entry)) continue
    end = entry
    const kind = kindOf(log, entry)
    if (kind === undefined) continue
    const writeTime = writeTimeOf(entry)
    latest = laterOf(writeTime, latest)
    found.set(kind, { last: entry, greatest: laterOf(writeTime, found.get(kind)?.greatest) })
  }
  const titles = [...TITLES].some((kind) => !isInForce(found.get(kind))) || areSwapped(found)
  const repeated = [...found].filter(([kind, one]) => (TITLES.has(kind) ? titles : !isInForce(one)))
  const inOrder = repeated.map(([, { last }]) => last).sort((a, b) => a.seq - b.seq)
  let parentId = end?.id ?? null
  return inOrder.map((last, index): Entry => {
    const time = latest[0] + 1 + index
    const seq = records.length + 1 + index
    const place = { type: last.type, id: ulidAt(time, seq), parentId, seq, timestamp: isoOf(time) }
    parentId = place.id
    return { ...place, ...payloadOf(last) } as Entry
  })
}

const USER = "title user"
const AUTO = "title auto"
const TITLES: ReadonlySet<string> = new Set([USER, AUTO])

/** The same for entries of which one is in force; undefined for an entry that sets nothing. */
export function kindOf(log: EntryLog, entry: Entry): string | undefined {
  const { title, source, targetId, key, value } = entry as Readonly<Record<string, unknown>>
  if (entry.type === "title_change")
    return title !== null && typeof title !== "string" ? undefined : source === "auto" ? AUTO : USER
  if (entry.type === "metadata") return value === undefined ? undefined : `metadata ${textOf(key)}`
  const target = entry.type === "label" && typeof targetId === "string" ? log.find(targetId, entry.seq) : undefined
  return target === undefined ? undefined : `label ${target}`
}

/** Without fields that are not known here: they are in the log once. */
function payloadOf(entry: Entry): object {
  const { title, source, targetId, targetSeq, label, key, value } = entry as Readonly<Record<string, unknown>>
  if (entry.type === "title_change") return { title, source }
  return entry.type === "metadata" ? { key, value } : { targetId, targetSeq, label }
}

function isInForce(found: Found | undefined): boolean {
  return found === undefined || replaces(writeTimeOf(found.last), found.greatest)
}

/** A user's null clears the automatic titles before it, so the order of the two titles counts. */
function areSwapped(found: ReadonlyMap<string, Found>): boolean {
  const user = found.get(USER)?.last
  const auto = found.get(AUTO)?.last
  if (user === undefined || auto === undefined) return false
  return user.seq < auto.seq !== replaces(writeTimeOf(auto), writeTimeOf(user))
}
