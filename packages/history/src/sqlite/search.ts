/**
 * Searches the file: looks at the newest rows itself, then takes older ones from the index of words, newest first.
 *
 * The two complement each other. A frequent word is found at once in the newest rows, while FTS5 merges the rows of all words that begin
 * with it (40 ms for one in 400,000 of a million prompts); a rare one is found at once in the index. The rows of one folder are few, and
 * the index cannot find them.
 */
import type { Connection } from "@sessions/sqlite/driver"
import type { Page, StoredPrompt, Words } from "../types.ts"
import { hasWords, normalize } from "../words.ts"
import { COLUMNS, fromRow, NEWEST_FIRST, newestRows, olderThan, type Order, type Place, type Row } from "./rows.ts"

/** Rows, and UTF-16 units of their prompts, that are looked at without the index: about 5 ms. */
const NEWEST_ROWS = 2_000
const NEWEST_UNITS = 500_000

/** A word in more of the newest rows than one in so many is left out of the query of the index. */
const FREQUENT = 20

/** The words of a query of the index, and the parts of a word like `a.b.c`. FTS5 limits the size of an expression. */
const MOST_TERMS = 8

export function searchPrompts(db: Connection, order: Order, words: Words, { limit, cwd }: Page): StoredPrompt[] {
  const longest = words.toSorted((a, b) => b.length - a.length).slice(0, MOST_TERMS)
  const found: StoredPrompt[] = []
  const counts = longest.map(() => 0)
  let rows = 0
  let units = 0
  let last: Place | undefined
  for (const row of newestRows(db, order, { limit: NEWEST_ROWS, cwd })) {
    last = row
    rows++
    units += row.prompt.length
    const text = normalize(row.prompt)
    longest.forEach((word, i) => {
      if (text.includes(word)) counts[i] = (counts[i] as number) + 1
    })
    if (words.every((word) => text.includes(word))) found.push(fromRow(row))
    if (found.length === limit) return found
    if (units > NEWEST_UNITS) break
  }
  if (last === undefined || (rows < NEWEST_ROWS && units <= NEWEST_UNITS)) return found
  const rare = longest.filter((_, i) => (counts[i] as number) * FREQUENT <= rows)
  for (const row of indexedRows(db, order, rare.length > 0 ? rare : longest, last, cwd)) {
    // The words that are not in the query; and symbols that the index takes for letters.
    if (hasWords(row.prompt, words)) found.push(fromRow(row))
    if (found.length === limit) break
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
