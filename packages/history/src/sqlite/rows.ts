/** Rows of `history`, newest first. */
import type { Connection } from "@sessions/sqlite/driver"
import { toPrompt } from "../stored.ts"
import type { Page, StoredPrompt } from "../types.ts"

/**
 * The order of a table. Ids grow with time, whatever the clock does; but in one that has each prompt once, another program sets the time of
 * a row that is there when its prompt is typed again.
 */
export type Order = "id" | "time"

export interface Row {
  readonly id: number
  readonly prompt: string
  readonly created_at: number
  readonly cwd: string | null
}

/** The place of a row in the order. */
export type Place = Pick<Row, "id" | "created_at">

/** Of a row `h`. Another program may have stored bytes. */
export const COLUMNS = "h.id, CAST(h.prompt AS TEXT) AS prompt, h.created_at, h.cwd"

export const NEWEST_FIRST: Readonly<Record<Order, string>> = {
  id: "ORDER BY h.id DESC",
  time: "ORDER BY h.created_at DESC, h.id DESC",
}

/** The condition that a row is older than a place, and the values of its parameters. */
export function olderThan(
  order: Order,
  { id, created_at }: Place,
): { readonly sql: string; readonly values: number[] } {
  return order === "id"
    ? { sql: "h.id < ?", values: [id] }
    : { sql: "(h.created_at, h.id) < (?, ?)", values: [created_at, id] }
}

/** At most `limit` rows, older than a place if there is one. */
export function newestRows(
  db: Connection,
  order: Order,
  { limit, cwd }: Pick<Page, "limit" | "cwd">,
  after: Place | undefined,
): readonly Row[] {
  const conditions: string[] = []
  const values: (string | number)[] = []
  if (cwd !== undefined) {
    conditions.push("h.cwd = ?")
    values.push(cwd)
  }
  if (after !== undefined) {
    const older = olderThan(order, after)
    conditions.push(older.sql)
    values.push(...older.values)
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
  const sql = `SELECT ${COLUMNS} FROM history AS h ${where} ${NEWEST_FIRST[order]} LIMIT ?`
  return db.query<Row>(sql).all(...values, limit)
}

export function recentPrompts(db: Connection, order: Order, page: Page): StoredPrompt[] {
  const { before } = page
  if (before === undefined) return newestRows(db, order, page, undefined).map(fromRow)
  const place = db.query<Place>("SELECT id, created_at FROM history WHERE id = ?").get(before)
  // Without the row only the order of ids is known.
  const found = newestRows(db, place === undefined ? "id" : order, page, place ?? { id: before, created_at: 0 })
  return found.map(fromRow)
}

export function fromRow({ id, prompt, created_at, cwd }: Row): StoredPrompt {
  return toPrompt(id, prompt, created_at, cwd)
}
