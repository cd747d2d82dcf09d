/** Lists sessions in pages, newest message first. A log is opened only if its stored information is missing or out of date. */
import { hasCode } from "../format/errors.ts"
import { signalOf } from "../storage/signals.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import type { SessionInfo } from "../info/projection.ts"
import type { LiveSessionOptions } from "./live-session.ts"
import {
  compare,
  insert,
  type KnownSortKeys,
  matches,
  pageIn,
  type PageOf,
  parseCursor,
  type SortKey,
  timeOf,
} from "./list-order.ts"
import { infoOfStored } from "./stored-info.ts"
import type { ListOptions } from "./repository-types.ts"

/** Bounds the memory of the cache, at more sessions than a caller pages through. A cleared cache only costs further reads. */
const SORT_KEYS_KEPT = 10_000

/**
 * Reads the storage's list until no later row can belong to the page. The information of sessions before the cursor is not read again. Throws
 * `invalid` for a wrong cursor. A session that cannot be read is returned in `unreadable`; if the storage does not answer, the call rejects.
 */
export async function readPage<Row extends SortKey>(
  storage: SessionStorage,
  options: LiveSessionOptions,
  known: KnownSortKeys,
  o: ListOptions,
  toRow: (info: SessionInfo) => Row,
): Promise<PageOf<Row>> {
  const { limit = 50, idPrefix = "" } = o
  const after = o.cursor === undefined ? undefined : parseCursor(o.cursor)
  const signal = signalOf(o)
  const newestFirst = storage.capabilities.listOrder === "updatedAt"
  const rows: Row[] = []
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
    if (newestFirst && rows.length > limit && head.updatedAt < timeOf(rows[limit] as Row)) break
    const log = `${id}/${head.log}/${head.next}/${head.updatedAt}`
    const place = known.get(log)
    if (after !== undefined && place !== undefined && compare(place, after) <= 0) continue
    try {
      const info = await infoOfStored(storage, id, head, options, signal)
      known.set(log, { id, lastMessageAt: info.lastMessageAt })
      if (known.size > SORT_KEYS_KEPT) known.clear()
      if (matches(info, o) && (after === undefined || compare(info, after) > 0)) insert(rows, toRow(info), limit)
    } catch (error) {
      await addUnreadable(id, error)
    }
  }
  return { ...pageIn(rows, limit), unreadable }
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
