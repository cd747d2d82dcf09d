/** The documents of the storage. */
import { type DocumentAdapter, fromUtf8, toUtf8 } from "@sessions/core/storage"
import type { Database } from "./database.ts"
import type { Driver } from "./driver.ts"

const LIST = "SELECT key FROM docs WHERE key BETWEEN ? AND ? ORDER BY key"

export function createDocs(db: Database): DocumentAdapter {
  return {
    get: (key) => db.read((driver) => textOf(driver, key)),

    compareAndSet: (key, from, to) =>
      db.write((driver) => {
        if ((textOf(driver, key) ?? null) !== from) return false
        if (to === null) driver.prepare("DELETE FROM docs WHERE key = ?").run(key)
        else driver.prepare("INSERT OR REPLACE INTO docs VALUES (?, ?)").run(key, toUtf8(to))
        return true
      }),

    async *list(prefix) {
      const rows = await db.read((driver) => driver.prepare<{ key: string }>(LIST).all(...keyRange(prefix)))
      yield rows.map(({ key }) => key)
    },
  }
}

function textOf(driver: Driver, key: string): string | undefined {
  const rows = driver.prepare<{ text: Uint8Array }>("SELECT text FROM docs WHERE key = ?").all(key)
  return rows[0] && fromUtf8(rows[0].text, key)
}

/** The bounds of all keys with a prefix; keys are ASCII. */
export function keyRange(prefix: string): [string, string] {
  return [prefix, `${prefix}\u{10ffff}`]
}
