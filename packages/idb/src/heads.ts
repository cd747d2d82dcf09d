/** The row that says where a log ends. */
import { type Head, type HeadInfo, StorageError } from "@sessions/core/storage"
import type { HeadRow, Reading, Writing } from "./database.ts"
import { corrupt } from "./errors.ts"

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

/** An identity for a log that begins. */
export function newLog(): string {
  let log = ""
  for (const byte of crypto.getRandomValues(new Uint8Array(12))) log += byte.toString(16).padStart(2, "0")
  return log
}

/** The time of this write: never before the last one's, whatever the clock does. */
export function stamp(row: HeadRow | undefined): number {
  return Math.max(row?.updatedAt ?? 0, Date.now())
}

export function isAt(row: HeadRow | undefined, expect: 0 | Head): boolean {
  if (expect === 0 || row === undefined) return expect === 0 && row === undefined
  return row.log === expect.log && row.next === expect.next
}

export function conflict(session: string, expect: 0 | Head, row: HeadRow | undefined): StorageError {
  return new StorageError("conflict", `Nothing was written to session ${session}: ${reason(expect, row)}.`, { session })
}

function reason(expect: 0 | Head, row: HeadRow | undefined): string {
  if (row === undefined) return "there is no such session; expect 0 creates it"
  if (expect === 0) return "it exists already"
  if (row.log !== expect.log) return "its log was deleted and made again, or replaced; read it anew"
  return `it has ${row.next} lines, not ${expect.next}: another writer was there; read what was added and append after it`
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
