/**
 * Searches the file: looks at the newest rows itself, then takes older ones from the index of words, newest first.
 *
 * The index has the starts of words, so FTS5 walks the rows of all words of a search side by side, and stops at the last one wanted. It knows
 * neither folders nor times: their newest rows are looked at further, before all rows with the words are.
 */
import type { Connection } from "@sessions/sqlite/driver"
import type { Page, StoredPrompt, Words } from "../types.ts"
import { hasWords } from "../words.ts"
import { COLUMNS, fromRow, NEWEST_FIRST, newestRows, olderThan, type Order, type Place, type Row } from "./rows.ts"

/** Rows that are looked at without the index: all that most searches need. */
const NEWEST_ROWS = 250
/** The same for rows of a folder and for rows in the order of their times, and UTF-16 units of their prompts: about 10 ms. */
const NEWEST_ORDERED_ROWS = 4_000
const NEWEST_UNITS = 500_000

/** The words of a query of the index, and the parts of a word like `a.b.c`. FTS5 limits the size of an expression. */
const MOST_TERMS = 8

export function searchPrompts(db: Connection, order: Order, words: Words, { limit, cwd }: Page): StoredPrompt[] {
  const found: StoredPrompt[] = []
  let last: Place | undefined
  /** Takes a row that has the words. Returns whether that was the last one wanted. */
  function take(row: Row, hasAll: boolean): boolean {
    last = row
    if (hasAll) found.push(fromRow(row))
    return found.length === limit
  }

  const most = order === "id" && cwd === undefined ? NEWEST_ROWS : NEWEST_ORDERED_ROWS
  let rows = 0
  let units = 0
  while (rows < most && units < NEWEST_UNITS) {
    const page = newestRows(db, order, { limit: NEWEST_ROWS, cwd }, last)
    for (const row of page) {
      units += row.prompt.length
      if (take(row, hasWords(row.prompt, words))) return found
    }
    if (page.length < NEWEST_ROWS) return found
    rows += page.length
  }
  if (last === undefined) return found

  // The longest words say most.
  const terms = words.toSorted((a, b) => b.length - a.length).slice(0, MOST_TERMS)
  for (const row of indexedRows(db, order, terms, last, cwd)) {
    // The words that are not in the query; and symbols that the index takes for letters.
    if (take(row, hasWords(row.prompt, words))) break
  }
  return found
}

/** Rows older than a place that have these words, according to the index. */
function indexedRows(db: Connection, order: Order, words: Words, after: Place, cwd: string | undefined): Iterable<Row> {
  const older = olderThan(order, after)
  // By the rowid of the index, which then reads no more rows than are taken.
  const condition = order === "id" ? "f.rowid < ?" : older.sql
  const newestFirst = order === "id" ? "ORDER BY f.rowid DESC" : NEWEST_FIRST.time
  // CROSS JOIN keeps SQLite from beginning with the folder.
  const sql = `SELECT ${COLUMNS} FROM history_fts AS f CROSS JOIN history AS h ON h.id = f.rowid
    WHERE history_fts MATCH ? AND ${condition} ${cwd === undefined ? "" : "AND h.cwd = ?"} ${newestFirst}`
  return db.query<Row>(sql).iterate(words.map(toTerm).join(" "), ...older.values, ...(cwd === undefined ? [] : [cwd]))
}

/** Has letters, digits and spaces only, so nothing in it is an operator or ends the quotes. */
function toTerm(word: string): string {
  return `"${word.trim().split(" ").slice(0, MOST_TERMS).join(" ")}"*`
}
