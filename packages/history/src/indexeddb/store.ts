/** The prompts in IndexedDB. A search looks at the prompts one after the other, newest first. */
import { free, type Reading, readTransaction, toStorageError, writeRepeatably } from "@sessions/idb/database"
import { toPrompt } from "../stored.ts"
import type { NewPrompt, Page, PromptStore, StoredPrompt } from "../types.ts"
import { hasWords } from "../words.ts"
import { createDatabase, type Row, type Schema } from "./database.ts"

/** Rows that a search reads at once. */
const SEARCHED_AT_ONCE = 500

export function createStore(name: string): PromptStore {
  const database = createDatabase(name)
  const { connection } = database

  /** Runs `call` with errors of the storage contract. `doing` completes "Could not …". */
  async function named<T>(doing: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw toStorageError(error, connection.name, doing)
    }
  }

  function select(page: Page, atOnce: number, isWanted: (prompt: string) => boolean): Promise<StoredPrompt[]> {
    return named("read", async () => {
      const found: StoredPrompt[] = []
      let before = page.before ?? Number.POSITIVE_INFINITY
      for (;;) {
        const rows = await readTransaction(database, ["prompts"], (tx) => newestRows(tx, page.cwd, before, atOnce))
        for (const { id = 0, prompt, at, place } of rows) {
          if (isWanted(prompt)) found.push(toPrompt(id, prompt, at, place?.[0] ?? undefined))
          if (found.length === page.limit) return found
          before = id
        }
        if (rows.length < atOnce) return found
      }
    })
  }

  /** If it is unknown whether the prompts were added, they are looked for before they are added once more. */
  function insert(added: readonly NewPrompt[]): Promise<void> {
    let last: Row | undefined
    return writeRepeatably(database, ["prompts"], async (tx, isRepeat) => {
      const prompts = tx.objectStore("prompts")
      if (isRepeat && last?.id !== undefined) {
        const row = await prompts.get(last.id)
        if (row?.prompt === last.prompt && row.at === last.at) return
      }
      let newest = (await prompts.openCursor(null, "prev"))?.value.prompt
      for (const { prompt, at, cwd } of added) {
        if (prompt === newest) continue
        newest = prompt
        const id = await prompts.add({ prompt, at })
        // An index cannot have an id that the database gives.
        if (cwd !== undefined) await prompts.put({ id, prompt, at, place: [cwd, id] })
        last = { id, prompt, at }
      }
    })
  }

  return {
    insert: (added) => named("add to", () => insert(added)),
    recent: (page) => select(page, page.limit, () => true),
    search: (words, page) => select(page, SEARCHED_AT_ONCE, (prompt) => hasWords(prompt, words)),
    delete: (id) =>
      named("delete from", () =>
        free(database, ["prompts"], async (tx, isRepeat) => {
          const prompts = tx.objectStore("prompts")
          if ((await prompts.getKey(id)) === undefined) return isRepeat
          await prompts.delete(id)
          return true
        }),
      ),
    clear: (before) =>
      named("clear", () =>
        free(database, ["prompts"], async (tx) => {
          const prompts = tx.objectStore("prompts")
          if (before === undefined) {
            const count = await prompts.count()
            await prompts.clear()
            return count
          }
          const ids = await prompts.index("at").getAllKeys(IDBKeyRange.upperBound(before, true))
          await Promise.all(ids.map((id) => prompts.delete(id)))
          return ids.length
        }),
      ),
    close: () => connection.close(),
  }
}

/** At most `count` rows before an id, newest first. Read at once, because cursors are slow in WebKit. */
async function newestRows(tx: Reading<Schema>, cwd: string | undefined, before: number, count: number): Promise<Row[]> {
  const prompts = tx.objectStore("prompts")
  const toRange = (from: number): IDBKeyRange =>
    cwd === undefined
      ? IDBKeyRange.bound(from, before, false, true)
      : IDBKeyRange.bound([cwd, from], [cwd, before], false, true)
  const source = cwd === undefined ? prompts : prompts.index("place")
  const all = toRange(Number.NEGATIVE_INFINITY)
  const newest = await source.openKeyCursor(all, "prev")
  if (newest === null) return []
  const oldest = count === 1 ? newest : await newest.advance(count - 1)
  const rows = await source.getAll(oldest === null ? all : toRange(oldest.primaryKey))
  return rows.reverse()
}
