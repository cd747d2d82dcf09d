/** The kinds of indexes that the tests run on. Each place can be opened again, as by another process. */
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as fake from "fake-indexeddb"
import { deleteDB, openDB } from "idb"
import { createMemoryIndex, type SearchIndex } from "../src/index.ts"
import { createIndexedDbIndex } from "../src/indexeddb/index.ts"
import { createSqliteIndex } from "../src/sqlite/index.ts"

export interface IndexPlace {
  open(): SearchIndex
  /** Deletes or damages what is stored. All objects on it are closed. */
  harm(how: Harm): void | Promise<void>
  remove(): void | Promise<void>
}

export const HARMS = ["delete", "garbage", "truncate", "empty", "head"] as const
export type Harm = (typeof HARMS)[number]

let made = 0

function indexedDbPlace(): IndexPlace {
  // IndexedDB in memory: what is tested is what is stored, not an engine. `page/` has the tests in browsers.
  if (typeof indexedDB === "undefined") {
    const { default: _, ...globals } = fake
    Object.assign(globalThis, globals)
  }
  const database = `search-${made++}`
  return {
    open: () => createIndexedDbIndex({ database }),
    async harm(how) {
      if (how === "delete") return deleteDB(database)
      const db = await openDB(database)
      // Opening it has just made it.
      if (!db.objectStoreNames.contains("rows")) {
        db.close()
        return deleteDB(database)
      }
      if (how === "empty") for (const name of ["rows", "sessions", "state"]) await db.clear(name)
      else for (const key of await db.getAllKeys("rows")) await db.put("rows", how === "garbage" ? 1 : { text: 1 }, key)
      db.close()
    },
    remove: () => deleteDB(database),
  }
}

export const PLACES: Readonly<Record<string, () => IndexPlace>> = {
  memory: () => ({ open: createMemoryIndex, harm: () => undefined, remove: () => undefined }),
  sqlite: sqlitePlace,
  indexeddb: indexedDbPlace,
}

export function sqlitePlace(): IndexPlace & { readonly folder: string; readonly files: () => string[] } {
  const folder = mkdtempSync(join(tmpdir(), "sessions-search-"))
  const files = (): string[] => readdirSync(folder).map((name) => join(folder, name))
  return {
    folder,
    files,
    open: () => createSqliteIndex({ folder }),
    harm(how) {
      // Not the file that is mapped into the memory of processes that have the index open: cutting that off ends them.
      for (const file of files().filter((name) => !name.endsWith("-shm"))) {
        if (how === "delete") rmSync(file)
        else if (how === "garbage") writeFileSync(file, "no database".repeat(1_000))
        else if (how === "truncate") truncateSync(file, 5_000)
        else if (how === "empty") truncateSync(file, 0)
        else writeFileSync(file, new Uint8Array(4_096), { flag: "r+" })
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
