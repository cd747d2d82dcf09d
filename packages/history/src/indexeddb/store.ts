/** The prompts in IndexedDB. A search looks at the prompts one after the other, newest first. */
import { toPrompt } from "../stored.ts"
import type { Page, PromptStore, StoredPrompt } from "../types.ts"
import { hasWords } from "../words.ts"
import { createDatabase, type Prompts, type Row } from "./database.ts"

/** Rows that a search reads at once. */
const SEARCHED_AT_ONCE = 500

export function createStore(name: string): PromptStore {
  const database = createDatabase(name)

  async function select(page: Page, atOnce: number, isWanted: (prompt: string) => boolean): Promise<StoredPrompt[]> {
    const found: StoredPrompt[] = []
    let before = page.before ?? Number.POSITIVE_INFINITY
    for (;;) {
      const rows = await database.transaction("readonly", (prompts) => newestRows(prompts, page.cwd, before, atOnce))
      for (const { id = 0, prompt, at, place } of rows) {
        if (isWanted(prompt)) found.push(toPrompt(id, prompt, at, place?.[0] ?? undefined))
        if (found.length === page.limit) return found
        before = id
      }
      if (rows.length < atOnce) return found
    }
  }

  return {
    insert: (added) =>
      database.transaction("readwrite", async (prompts) => {
        let newest = (await prompts.openCursor(null, "prev"))?.value.prompt
        for (const { prompt, at, cwd } of added) {
          if (prompt === newest) continue
          newest = prompt
          const id = await prompts.add({ prompt, at })
          // An index cannot have an id that the database gives.
          if (cwd !== undefined) await prompts.put({ id, prompt, at, place: [cwd, id] })
        }
      }),
    recent: (page) => select(page, page.limit, () => true),
    search: (words, page) => select(page, SEARCHED_AT_ONCE, (prompt) => hasWords(prompt, words)),
    delete: (id) =>
      database.transaction("readwrite", async (prompts) => {
        if ((await prompts.getKey(id)) === undefined) return false
        await prompts.delete(id)
        return true
      }),
    clear: (before) =>
      database.transaction("readwrite", async (prompts) => {
        if (before === undefined) {
          const count = await prompts.count()
          await prompts.clear()
          return count
        }
        const ids = await prompts.index("at").getAllKeys(IDBKeyRange.upperBound(before, true))
        await Promise.all(ids.map((id) => prompts.delete(id)))
        return ids.length
      }),
    close: () => database.close(),
  }
}

/** At most `count` rows before an id, newest first. Read at once, because cursors are slow in WebKit. */
async function newestRows(
  prompts: Prompts<"readonly">,
  cwd: string | undefined,
  before: number,
  count: number,
): Promise<Row[]> {
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
