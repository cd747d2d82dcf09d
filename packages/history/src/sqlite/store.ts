/** The prompts in a SQLite file. A transaction begins and commits in one tick; a locked file is waited for in JavaScript. */
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { StorageError } from "@sessions/core/storage"
import {
  connect,
  type Connection,
  type ConnectOptions,
  fileIdentity,
  retryWhileLocked,
  toFolderError,
  transaction,
} from "@sessions/sqlite/driver"
import type { NewPrompt, PromptStore } from "../types.ts"
import { NEWEST_FIRST, type Order, recentPrompts } from "./rows.ts"
import { hasEachOnce, remakeWords, removeAll, setUp } from "./schema.ts"
import { searchPrompts } from "./search.ts"

/** Longer than any transaction of a history takes. */
const LOCKED_MS = 5_000

/** Rows that one transaction deletes: about 10 ms, in which the event loop stands still. */
const DELETED_AT_ONCE = 200

/** Attempts to empty the write-ahead log, and the milliseconds between them. Other connections read it for one statement. */
const EMPTYINGS = 10
const EMPTYING_PAUSE_MS = 20

interface Opened {
  readonly db: Connection
  readonly order: Order
  readonly file: string
}

export function createStore(path: string, library: ConnectOptions["open"]): PromptStore {
  let opened: Opened | undefined
  let isClosed = false

  function close(): void {
    const last = opened
    opened = undefined
    try {
      last?.db.close()
    } catch {
      // What was added is stored, and the next opening does what this close has left.
    }
  }

  /** Opens the path again if the file was removed or replaced: what is written to a removed file is lost. */
  function open(): Opened {
    if (isClosed) throw new StorageError("closed", "The history is closed: create another one.")
    if (opened !== undefined && opened.file === fileIdentity(path)) return opened
    close()
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    } catch (error) {
      throw toFolderError(error, `The folder of the history ${path}`)
    }
    const db = connect(path, library === undefined ? {} : { open: library })
    try {
      setUp(db)
      opened = { db, order: hasEachOnce(db) ? "time" : "id", file: fileIdentity(path) }
      return opened
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** Runs `work`, and once more after the index of words is made again if the file is damaged: the index is derived from the prompts. */
  async function run<T>(work: (db: Connection, order: Order) => T): Promise<T> {
    try {
      return await runOnce(work)
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== "corrupt") throw error
      try {
        await runOnce(remakeWords)
      } catch {
        // Not the index alone is damaged, or it is the file of another program.
        throw error
      }
      return runOnce(work)
    }
  }

  function runOnce<T>(work: (db: Connection, order: Order) => T): Promise<T> {
    const attempt = (): T => {
      const { db, order } = open()
      return work(db, order)
    }
    return retryWhileLocked(attempt, { path, timeout: LOCKED_MS })
  }

  /**
   * Deleted text is overwritten in the file, but stays in the write-ahead log until that is emptied: here, else by a later deletion or when
   * the last connection is closed.
   */
  async function emptyLog(): Promise<void> {
    for (let left = EMPTYINGS; left > 0 && !(await run(isLogEmptied)); left--) {
      await new Promise((resolve) => setTimeout(resolve, EMPTYING_PAUSE_MS))
    }
  }

  async function deleteOlder(before: number): Promise<number> {
    const sql = `DELETE FROM history WHERE id IN (SELECT id FROM history WHERE created_at < ? LIMIT ${DELETED_AT_ONCE})`
    for (let deleted = 0; ; ) {
      const changes = await run((db) => transaction(db, () => db.run(sql, before)))
      deleted += changes
      if (changes < DELETED_AT_ONCE) return deleted
      await new Promise((resolve) => setTimeout(resolve, 0))
    }
  }

  return {
    insert: (prompts) =>
      run((db, order) =>
        transaction(db, () => {
          for (const prompt of prompts) insert(db, order, prompt)
        }),
      ),
    recent: (page) => run((db, order) => recentPrompts(db, order, page)),
    search: (words, page) => run((db, order) => searchPrompts(db, order, words, page)),
    async delete(id) {
      const changes = await run((db) => transaction(db, () => db.run("DELETE FROM history WHERE id = ?", id)))
      if (changes > 0) await emptyLog()
      return changes > 0
    },
    async clear(before) {
      const deleted =
        before === undefined ? await run((db) => transaction(db, () => removeAll(db))) : await deleteOlder(before)
      if (deleted > 0) await emptyLog()
      return deleted
    },
    async close() {
      isClosed = true
      close()
    },
  }
}

function isLogEmptied(db: Connection): boolean {
  try {
    return db.query<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0
  } catch {
    return false
  }
}

function insert(db: Connection, order: Order, { prompt, at, cwd }: NewPrompt): void {
  const newest = `SELECT CAST(h.prompt AS TEXT) AS prompt FROM history AS h ${NEWEST_FIRST[order]} LIMIT 1`
  if (db.query<{ prompt: string }>(newest).get()?.prompt === prompt) return
  // A table that has each prompt once would refuse it.
  if (order === "time") db.run("DELETE FROM history WHERE prompt = ?", prompt)
  db.run("INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)", prompt, at, cwd ?? null)
}
