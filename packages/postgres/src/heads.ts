/** The head of a log: a row of the table `session`. */
import { fromUtf8, type HeadInfo, StorageError } from "@sessions/core/storage"
import type { Connection } from "./database.ts"
import type { Tables } from "./schema.ts"

/** Milliseconds since 1970 by the server's clock. The clock of a transaction would not move during it. */
export const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

/** Drivers return a bigint as a text, a number or a bigint. */
export type Integer = string | number | bigint

export interface SessionRow {
  readonly id: string
  readonly log: string
  readonly next: Integer
  readonly bytes: Integer
  readonly updated_at: Integer
  readonly mark: Integer | null
  readonly info: Uint8Array | null
  readonly info_next: Integer | null
}

/** A first line that is longer is read by itself. */
const FIRST_BYTES = 1024
const LF = 10

export const COLUMNS =
  "id, log, next, bytes, updated_at, CASE WHEN mark_bytes = bytes THEN mark END AS mark, info, info_next"

export type ReadHead = (session: string, connection?: Connection) => Promise<HeadInfo | undefined>

export function createHead(db: Connection, { session }: Tables): ReadHead {
  const one = `SELECT ${COLUMNS} FROM ${session} WHERE id = $1`
  return async (id, connection = db) => {
    const [row] = await connection.query<SessionRow>(one, [id])
    return row && headOf(row)
  }
}

/** Reads the head with the first line, if that is short and UTF-8. */
export function createHeadAndFirst(db: Connection, { session, batch }: Tables): ReadHead {
  const first = `(SELECT substring(body FROM 1 FOR ${FIRST_BYTES}) FROM ${batch} WHERE log = s.log AND seq = 0) AS first`
  const both = `SELECT ${COLUMNS}, ${first} FROM ${session} s WHERE id = $1`
  return async (id) => {
    const [row] = await db.query<SessionRow & { readonly first: Uint8Array | null }>(both, [id])
    if (row === undefined) return undefined
    const line = row.first === null ? undefined : firstLineOf(row.first)
    return { ...headOf(row), ...(line !== undefined && { first: line }) }
  }
}

function firstLineOf(bytes: Uint8Array): string | undefined {
  const end = bytes.indexOf(LF)
  if (end === -1) return undefined
  try {
    return fromUtf8(bytes.subarray(0, end), "the first line")
  } catch {
    // A read of the line tells where the damage is.
    return undefined
  }
}

export function headOf(row: SessionRow): HeadInfo {
  const { id, log, mark, info, info_next } = row
  const [next, bytes, updatedAt] = [Number(row.next), Number(row.bytes), Number(row.updated_at)]
  if (!/^[0-9a-f]{24}$/.test(log) || ![next, bytes, updatedAt].every(Number.isSafeInteger)) {
    throw new StorageError(
      "corrupt",
      `The row of session ${id} was changed by another program; restore it from a backup.`,
    )
  }
  const kept = info && info_next !== null && { text: fromUtf8(info, `info of session ${id}`), next: Number(info_next) }
  return { next, log, bytes, updatedAt, ...(mark !== null && { mark: Number(mark) }), ...(kept && { info: kept }) }
}
