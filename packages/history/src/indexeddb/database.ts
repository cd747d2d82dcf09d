/** The database: its object store, the connection, and transactions. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { type DBSchema, type IDBPDatabase, type IDBPObjectStore, openDB } from "idb"

export interface Row {
  /** Missing until the database has given one. */
  readonly id?: number
  readonly prompt: string
  /** Unix seconds. */
  readonly at: number
  /** The folder and the id, so that the prompts of a folder are in order. */
  readonly place?: readonly [cwd: string, id: number]
}

export interface Schema extends DBSchema {
  prompts: { key: number; value: Row; indexes: { at: number; place: [string, number] } }
}

export type Prompts<Mode extends IDBTransactionMode> = IDBPObjectStore<Schema, ["prompts"], "prompts", Mode>

export interface Database {
  /** Runs `work` in one transaction, which is committed when `work` is done. If it rejects, nothing was written. */
  transaction<Mode extends "readonly" | "readwrite", T>(
    mode: Mode,
    work: (prompts: Prompts<Mode>) => Promise<T>,
  ): Promise<T>
  close(): Promise<void>
}

const VERSION = 1

export function createDatabase(name: string): Database {
  let connection: Promise<IDBPDatabase<Schema>> | undefined

  function connect(): Promise<IDBPDatabase<Schema>> {
    const forget = (): void => {
      if (connection === opening) connection = undefined
    }
    const opening = open(name, forget)
    opening.catch(forget)
    return opening
  }

  async function begin<Mode extends "readonly" | "readwrite">(mode: Mode) {
    const db = await (connection ??= connect())
    try {
      return db.transaction(["prompts"], mode)
    } catch (error) {
      // The browser, or another tab that upgrades the database, has closed the connection. Nothing was sent.
      if ((error as Error).name !== "InvalidStateError") throw error
      connection = connect()
      return (await connection).transaction(["prompts"], mode)
    }
  }

  return {
    async transaction(mode, work) {
      try {
        const tx = await begin(mode)
        // It rejects with the reason when the transaction is aborted, also if nothing waits for it.
        tx.done.catch(() => undefined)
        try {
          // The types of idb do not follow a generic mode.
          const result = await work(tx.objectStore("prompts") as unknown as Prompts<typeof mode>)
          await tx.done
          return result
        } catch (error) {
          abort(tx)
          // The error of a request is not always the reason: a full disk is reported by the transaction alone.
          throw tx.error ?? error
        }
      } catch (error) {
        throw toStorageError(error, name)
      }
    },
    async close() {
      const last = connection
      connection = undefined
      // An opening that failed was reported by the call that made it.
      await last?.then((db) => db.close()).catch(() => undefined)
    },
  }
}

async function open(name: string, onLost: () => void): Promise<IDBPDatabase<Schema>> {
  if (typeof indexedDB === "undefined" || indexedDB === null) {
    throw new StorageError(
      "unsupported",
      "IndexedDB is missing: this is not a browser, or it stores nothing for this page. Use createMemoryHistory, or createSqliteHistory on a server.",
    )
  }
  const db = await openDB<Schema>(name, VERSION, {
    upgrade(upgraded) {
      const prompts = upgraded.createObjectStore("prompts", { keyPath: "id", autoIncrement: true })
      prompts.createIndex("at", "at")
      prompts.createIndex("place", "place")
    },
    // Another tab upgrades or deletes the database and waits until this connection is closed.
    blocking(_current, _blocked, event) {
      onLost()
      ;(event.target as IDBDatabase).close()
    },
    terminated: onLost,
  })
  if (db.objectStoreNames.contains("prompts")) return db
  db.close()
  throw new StorageError(
    "corrupt",
    `The database ${name} belongs to another program: it has no prompts. Give \`database\` another name.`,
  )
}

function abort(tx: { abort(): void }): void {
  try {
    tx.abort()
  } catch {
    // It has already ended.
  }
}

interface Meaning {
  readonly code: StorageErrorCode
  readonly advice: string
}

const DISABLED: Meaning = {
  code: "unsupported",
  advice: "the browser stores nothing for this page; allow this site to store data, or use createMemoryHistory",
}
const MEANINGS: Readonly<Record<string, Meaning>> = {
  QuotaExceededError: {
    code: "quota",
    advice: "this site's share of the disk is used up; delete data of this site, then repeat the call",
  },
  VersionError: {
    code: "unsupported",
    advice: "a newer version of this program made the database; reload the page to get that version",
  },
  SecurityError: DISABLED,
  NotAllowedError: DISABLED,
}
const OTHERWISE: Meaning = { code: "unavailable", advice: "repeat the call, or reload the page" }

function toStorageError(error: unknown, name: string): StorageError {
  if (error instanceof StorageError) return error
  const { name: kind, message } = error as Error
  const { code, advice } = MEANINGS[kind] ?? OTHERWISE
  return new StorageError(code, `The prompt history ${name} failed (${message}): ${advice}.`, { cause: error })
}
