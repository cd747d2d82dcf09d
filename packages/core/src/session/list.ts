/** Lists sessions in pages, newest message first. A log is opened only if its stored information is missing or out of date. */
import { SessionError, hasCode } from "../format/errors.ts"
import { isSameJson } from "../format/json.ts"
import { signalOf } from "../storage/signals.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import type { SessionInfo } from "../info/projection.ts"
import type { LiveSessionOptions } from "./live-session.ts"
import { infoOfStored } from "./stored-info.ts"
import type { ListOptions, SessionPage } from "./repository-types.ts"

/** Bounds the memory of the cache, at more sessions than a caller pages through. A cleared cache only costs further reads. */
const SORT_KEYS_KEPT = 10_000

/** Cached sort keys of sessions. The map's key identifies a log in one state (id, log, end, time), so a value is never out of date. */
export type KnownSortKeys = Map<string, SortKey>

/**
 * Reads one page. `known` caches the sort keys that earlier pages found, so that the information of sessions before the cursor is not
 * read again. Throws `invalid` for a wrong cursor. A session that cannot be read is returned in
 * `unreadable`; if the storage does not answer, the call rejects.
 */
export async function listSessions(
  storage: SessionStorage,
  options: LiveSessionOptions,
  known: KnownSortKeys,
  o: ListOptions,
): Promise<SessionPage> {
  const { limit = 50, idPrefix = "" } = o
  const after = o.cursor === undefined ? undefined : parseCursor(o.cursor)
  const signal = signalOf(o)
  const newestFirst = storage.capabilities.listOrder === "updatedAt"
  const rows: SessionInfo[] = []
  const unreadable: { id: string; error: unknown }[] = []
  const addUnreadable = async (id: string, error: unknown): Promise<void> => {
    if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
    if (hasCode(error, "unavailable") && !(await isInReach(storage, options, signal))) throw error
    // `not_found`: deleted since it was listed. Other errors are returned, so that one damaged session does not hide the rest.
    if (!hasCode(error, "not_found")) unreadable.push({ id, error })
  }
  for await (const row of storage.list(signal)) {
    const { id } = row
    if (!id.startsWith(idPrefix)) {
      if (!newestFirst && id > idPrefix) break
      continue
    }
    if (row.error !== undefined) {
      await addUnreadable(id, row.error)
      continue
    }
    const { id: _, ...head } = row
    // The page is full, and this and all later sessions were updated before its last message. A session's lastMessageAt is never later
    // than its updatedAt, so none of them can be on the page.
    if (newestFirst && rows.length > limit && head.updatedAt < timeOf(rows[limit] as SessionInfo)) break
    const log = `${id}/${head.log}/${head.next}/${head.updatedAt}`
    const place = known.get(log)
    if (after !== undefined && place !== undefined && compare(place, after) <= 0) continue
    try {
      const info = await infoOfStored(storage, id, head, options, signal)
      known.set(log, { id, lastMessageAt: info.lastMessageAt })
      if (known.size > SORT_KEYS_KEPT) known.clear()
      if (matches(info, o) && (after === undefined || compare(info, after) > 0)) insert(rows, info, limit)
    } catch (error) {
      await addUnreadable(id, error)
    }
  }
  const sessions = rows.slice(0, limit)
  const last = sessions.at(-1)
  return { sessions, ...(rows.length > limit && last !== undefined ? { next: cursorOf(last) } : {}), unreadable }
}

/** Whether the storage answers at all. The head of an id that does not exist costs one request and depends on no session's data. */
async function isInReach(storage: SessionStorage, { newId }: LiveSessionOptions, o: CallOptions): Promise<boolean> {
  try {
    await storage.head(newId(), o)
    return true
  } catch (error) {
    if (hasCode(error, "unavailable")) return false
    throw error
  }
}

function matches(info: SessionInfo, o: ListOptions): boolean {
  const parent = info.parentSession
  return (
    (o.cwd === undefined || info.cwd === o.cwd) &&
    (o.source === undefined || info.source === o.source) &&
    (o.kind === undefined || (info.kind ?? null) === o.kind) &&
    hasMetadata(info, o.metadata ?? {}) &&
    (o.parent === undefined || (parent !== undefined && "id" in parent && parent.id === o.parent))
  )
}

function hasMetadata({ metadata }: SessionInfo, wanted: object): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(metadata, key) && isSameJson(metadata[key], value),
  )
}

type SortKey = Pick<SessionInfo, "lastMessageAt" | "id">

/** Negative if `a` sorts before `b`: the newer one first; of equally new ones, the greater id. */
function compare(a: SortKey, b: SortKey): number {
  const newer = timeOf(b) - timeOf(a)
  return newer === 0 ? (a.id === b.id ? 0 : a.id > b.id ? -1 : 1) : newer
}

/** Inserts in sort order. Keeps one row more than the page has: it shows that there is a next page. */
function insert(rows: SessionInfo[], info: SessionInfo, limit: number): void {
  let at = rows.length
  while (at > 0 && compare(rows[at - 1] as SessionInfo, info) > 0) at--
  rows.splice(at, 0, info)
  if (rows.length > limit + 1) rows.pop()
}

function timeOf({ lastMessageAt }: SortKey): number {
  return Date.parse(lastMessageAt)
}

function cursorOf({ lastMessageAt, id }: SortKey): string {
  return `${lastMessageAt}/${id}`
}

function parseCursor(cursor: unknown): SortKey {
  const [lastMessageAt = "", id = "", ...rest] = String(cursor).split("/")
  if (rest.length === 0 && id !== "" && !Number.isNaN(Date.parse(lastMessageAt))) return { lastMessageAt, id }
  throw new SessionError("invalid", `${JSON.stringify(cursor)} is not the cursor of a page; give \`next\` as it came.`)
}
