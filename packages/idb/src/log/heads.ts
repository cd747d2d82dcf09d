/** The row that says where a log ends. */
import type { HeadInfo } from "@sessions/core/storage"
import type { HeadRow, Reading, Writing } from "../database/schema.ts"
import { corrupt } from "../database/errors.ts"

/** The head as it is stored; `corrupt` where the row is none. */
export async function headRow(tx: Reading | Writing, session: string): Promise<HeadRow | undefined> {
  const row: unknown = await tx.objectStore("heads").get(session)
  return row === undefined ? undefined : checkHeadRow(row, session)
}

export function checkHeadRow(row: unknown, session: string): HeadRow {
  if (isHeadRow(row)) return row
  throw corrupt(`The head of session ${session} is not one that was written here`, { session, at: `head ${session}` })
}

export function infoOf({ log, next, bytes, updatedAt, info }: HeadRow): HeadInfo {
  return { next, log, bytes, updatedAt, ...(info !== undefined && { info }) }
}

/** The time of this write: never before the last one's, whatever the clock does. */
export function stamp(row: HeadRow | undefined): number {
  return Math.max(row?.updatedAt ?? 0, Date.now())
}

/** By hand: an append waits for it, and superstruct takes tens of microseconds. */
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
