/**
 * Searches the file: looks at the newest rows itself, then takes older ones from the index of words, newest first.
 *
 * The two complement each other. Frequent words are found at once in the newest rows, while FTS5 first merges all rows of all words that
 * begin with them (40 ms for one in 400,000 of a million prompts); rare ones are found at once in the index. So frequent words are left out
 * of a query of the index that has others, and are looked for in the rows. The rows of one folder are few, and the index cannot find them.
 */
import type { Connection } from "@sessions/sqlite/driver"
import type { Page, StoredPrompt, Words } from "../types.ts"
import { hasWords, normalize } from "../words.ts"
import { COLUMNS, fromRow, NEWEST_FIRST, newestRows, olderThan, type Order, type Place, type Row } from "./rows.ts"

/** Rows, and UTF-16 units of their prompts, that are looked at without the index: about 10 ms. */
const NEWEST_ROWS = 4_000
const NEWEST_UNITS = 500_000
/** Rows that are read at once. After the first ones it is clear whether the newest rows will be enough. */
const ROWS_AT_ONCE = 250

/** A word in more of the newest rows than one in so many is frequent. */
const FREQUENT = 20

/** Rows with the rarest of frequent words that are looked at for the others, before the index merges the rows of all: about 20 ms. */
const WITH_RAREST = 4_000

/** The length of a space and of the words that have an index of their own, so that nothing is merged for them. */
const SHORT = 4

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

  // The longest words say most.
  const terms = words.toSorted((a, b) => b.length - a.length).slice(0, MOST_TERMS)
  const sample = newestRows(db, order, { limit: ROWS_AT_ONCE, cwd: undefined }, undefined)
  const counts = countRows(sample, terms)
  const rare = terms.filter((_, i) => (counts[i] as number) * FREQUENT <= sample.length)

  let rows = 0
  let units = 0
  for (let isEnough = true; isEnough; ) {
    const page = newestRows(db, order, { limit: ROWS_AT_ONCE, cwd }, last)
    for (const row of page) {
      units += row.prompt.length
      if (take(row, hasWords(row.prompt, words))) return found
    }
    if (page.length < ROWS_AT_ONCE) return found
    rows += page.length
    // The index does not know folders: without a rare word it gives the rows of all.
    const isFrequent = (found.length / rows) * NEWEST_ROWS >= limit || (cwd !== undefined && rare.length === 0)
    isEnough = isFrequent && rows < NEWEST_ROWS && units < NEWEST_UNITS
  }
  if (last === undefined) return found

  if (rare.length === 0) {
    const rarest = terms[counts.indexOf(Math.min(...counts))]
    const cheap = terms.filter((term) => term === rarest || term.length <= SHORT)
    let looked = 0
    for (const row of indexedRows(db, order, cheap, last, cwd)) {
      if (take(row, hasWords(row.prompt, words))) return found
      if (++looked === WITH_RAREST) break
    }
    if (looked < WITH_RAREST) return found
  }
  for (const row of indexedRows(db, order, rare.length > 0 ? rare : terms, last, cwd)) {
    // The words that are not in the query; and symbols that the index takes for letters.
    if (take(row, hasWords(row.prompt, words))) break
  }
  return found
}

/** In how many rows each word is. */
function countRows(rows: readonly Row[], words: Words): number[] {
  const texts = rows.map(({ prompt }) => normalize(prompt))
  return words.map((word) => texts.filter((text) => text.includes(word)).length)
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
