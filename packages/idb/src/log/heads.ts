/** The head row of a session: reads and checks it, converts it for callers, and lists all heads. */
import { type AdapterListRow, type HeadInfo, toListRow } from "@sessions/core/storage"
import { corruptError } from "../database/errors.ts"
import type { HeadRow, ReadTransaction, WriteTransaction } from "../schema.ts"

/** The stored head; `corrupt` if the row is damaged. */
export async function getHead(tx: ReadTransaction | WriteTransaction, session: string): Promise<HeadRow | undefined> {
  const row: unknown = await tx.objectStore("heads").get(session)
  return row === undefined ? undefined : checkHeadRow(row, session)
}

export function toHeadInfo({ log, next, bytes, updatedAt, mark, info }: HeadRow): HeadInfo {
  return { next, log, bytes, updatedAt, ...(mark !== undefined && { mark }), ...(info !== undefined && { info }) }
}

/** The `updatedAt` of a write that replaces `row`: not before the last one, even if the clock was set back. */
export function nextUpdatedAt(row: HeadRow | undefined): number {
  return Math.max(row?.updatedAt ?? 0, Date.now())
}

/** How many heads one transaction loads; with 8 KB of info each, a megabyte. */
const PAGE = 128

/**
 * Lists sessions, newest first. The order is fixed when the listing begins; each row is current when its page is loaded, and sessions
 * that were deleted meanwhile are left out. Reads no log.
 */
export async function* listHeads(
  limit: number,
  transaction: <T>(work: (tx: ReadTransaction) => Promise<T>) => Promise<T>,
): AsyncGenerator<readonly AdapterListRow[], void, undefined> {
  let { ids, page } = await transaction(async (tx) => {
    const heads = tx.objectStore("heads")
    const [keys, count] = await Promise.all([heads.index("updatedAt").getAllKeys(), heads.count()])
    // A damaged row without a time is not in the index.
    const damaged = keys.length < count ? new Set(await heads.getAllKeys()) : new Set<string>()
    for (const id of keys) damaged.delete(id)
    // `getAll` cannot read backwards, and a cursor takes an event for each row.
    const ids = [...keys.toReversed(), ...damaged].slice(0, limit)
    return { ids, page: await loadHeads(tx, ids.slice(0, PAGE)) }
  })
  for (;;) {
    yield page
    ids = ids.slice(PAGE)
    if (ids.length === 0) return
    page = await transaction((tx) => loadHeads(tx, ids.slice(0, PAGE)))
  }
}

async function loadHeads(tx: ReadTransaction, ids: readonly string[]): Promise<AdapterListRow[]> {
  const store = tx.objectStore("heads")
  const rows: unknown[] = await Promise.all(ids.map((id) => store.get(id)))
  return rows.flatMap((row, index) => {
    const id = ids[index] as string
    return row === undefined ? [] : [toListRow(id, () => toHeadInfo(checkHeadRow(row, id)))]
  })
}

/** Checked by hand because each append waits for it. */
function checkHeadRow(row: unknown, session: string): HeadRow {
  if (isHeadRow(row)) return row
  throw corruptError(`The head of session ${session} is damaged`, { session, at: `head ${session}` })
}

function isHeadRow(row: unknown): row is HeadRow {
  if (typeof row !== "object" || row === null) return false
  const { id, log, next, bytes, updatedAt, info } = row as Partial<Record<keyof HeadRow, unknown>>
  return (
    typeof id === "string" &&
    typeof log === "string" &&
    Number.isSafeInteger(next) &&
    Number.isSafeInteger(bytes) &&
    typeof updatedAt === "number" &&
    (info === undefined || isInfo(info))
  )
}

function isInfo(info: unknown): boolean {
  if (typeof info !== "object" || info === null) return false
  const { text, next } = info as Record<string, unknown>
  return typeof text === "string" && Number.isSafeInteger(next)
}
