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
  readonly info: Uint8Array | null
  readonly info_next: Integer | null
}

export const COLUMNS = "id, log, next, bytes, updated_at, info, info_next"

export type ReadHead = (session: string, connection?: Connection) => Promise<HeadInfo | undefined>

export function createHead(db: Connection, { session }: Tables): ReadHead {
  const one = `SELECT ${COLUMNS} FROM ${session} WHERE id = $1`
  return async (id, connection = db) => {
    const [row] = await connection.query<SessionRow>(one, [id])
    return row && headOf(row)
  }
}

export function headOf(row: SessionRow): HeadInfo {
  const { id, log, info, info_next } = row
  const [next, bytes, updatedAt] = [Number(row.next), Number(row.bytes), Number(row.updated_at)]
  if (!/^[0-9a-f]{24}$/.test(log) || ![next, bytes, updatedAt].every(Number.isSafeInteger)) {
    throw new StorageError(
      "corrupt",
      `The row of session ${id} was changed by another program; restore it from a backup.`,
    )
  }
  const kept = info && info_next !== null && { text: fromUtf8(info, `info of session ${id}`), next: Number(info_next) }
  return { next, log, bytes, updatedAt, ...(kept && { info: kept }) }
}
