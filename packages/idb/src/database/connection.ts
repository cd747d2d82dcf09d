/** The database connection: opened on first use, closed when another tab needs that, and opened again after it was lost. */
import { StorageError } from "@sessions/core/storage"
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, type StoreNames, wrap } from "idb"
import { type DatabaseName, timeout, toStorageError } from "./errors.ts"

/** Upgrades a database from the version that equals its index in `upgrades` to the next. May only wait for requests on `tx`. */
export type Upgrade<S extends DBSchema> = (
  db: IDBPDatabase<S>,
  tx: IDBPTransaction<S, StoreNames<S>[], "versionchange">,
) => void | Promise<void>

export interface DatabaseOptions<S extends DBSchema> extends DatabaseName {
  readonly name: string
  /**
   * The object stores. A database without one of them is another program's. So a later version that needs one no more keeps it, empty: by
   * its name an older version knows that the database is of a newer one.
   */
  readonly stores: readonly StoreNames<S>[]
  /** Their number is the version of the database. */
  readonly upgrades: readonly Upgrade<S>[]
  /** How long a call waits for the database to open, in milliseconds; default {@link OPENING_MS}. */
  readonly openingMs?: number
}

export interface Connection<S extends DBSchema> {
  readonly name: DatabaseName
  /** The open database. Rejects with a {@link StorageError}; the next call tries again. */
  get(): Promise<IDBPDatabase<S>>
  /** Closes a connection that no longer works; the next {@link get} opens another. */
  discard(db: IDBPDatabase<S>): void
  close(): Promise<void>
}

/**
 * An opening waits, without an event that says so, behind an upgrade or a deletion that waits for a tab that keeps its connection. It goes
 * on after this time, and the next call waits for it again.
 */
const OPENING_MS = 10_000

export function createConnection<S extends DBSchema>(options: DatabaseOptions<S>): Connection<S> {
  let opening: Opening<S> | undefined
  const forget = (which: Opening<S>): void => {
    if (opening === which) opening = undefined
  }

  return {
    name: options,
    async get() {
      const own = (opening ??= startOpening(options, forget))
      return own.db ?? withinLimit(own.promise, options)
    },
    discard(db) {
      if (opening?.db === db) opening = undefined
      db.close()
    },
    async close() {
      // A connection that is still being opened is closed when it is there, without waiting for it.
      opening?.promise.then((db) => db.close()).catch(() => undefined)
      opening = undefined
    },
  }
}

interface Opening<S extends DBSchema> {
  readonly promise: Promise<IDBPDatabase<S>>
  db: IDBPDatabase<S> | undefined
}

/** `forget` is called when the opening has failed, so that the next call tries again, and when its connection is lost. */
function startOpening<S extends DBSchema>(
  options: DatabaseOptions<S>,
  forget: (which: Opening<S>) => void,
): Opening<S> {
  const lost = (): void => forget(opening)
  const opening: Opening<S> = { db: undefined, promise: open(options, lost) }
  opening.promise.then((db) => {
    opening.db = db
  }, lost)
  return opening
}

async function open<S extends DBSchema>(options: DatabaseOptions<S>, lost: () => void): Promise<IDBPDatabase<S>> {
  try {
    const db = await request(options, options.upgrades.length).catch(async (error: unknown) => {
      // The version of another program's database may be a higher one.
      if ((error as Error).name === "VersionError") checkStores(await request(options), options).close()
      throw error
    })
    db.onclose = lost
    // Another tab upgrades or deletes the database and waits until this connection is closed.
    db.onversionchange = () => {
      lost()
      db.close()
    }
    return wrap(checkStores(db, options)) as unknown as IDBPDatabase<S>
  } catch (error) {
    throw toStorageError(error, options)
  }
}

/** Chromium says so, once, that it found all data of this site damaged and has deleted it. Other engines say nothing. */
interface UpgradeEvent extends IDBVersionChangeEvent {
  readonly dataLoss?: "none" | "total"
  readonly dataLossMessage?: string
}

/** Opens the database with this version; without one, as it is. */
function request<S extends DBSchema>({ name, upgrades }: DatabaseOptions<S>, version?: number): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opened = indexedDB.open(name, version)
    opened.onupgradeneeded = ({ oldVersion, dataLoss, dataLossMessage }: UpgradeEvent) => {
      const db = wrap(opened.result) as unknown as IDBPDatabase<S>
      const tx = wrap(opened.transaction as IDBTransaction)
      tx.done.catch(() => undefined)
      const upgrade = async (): Promise<void> => {
        if (dataLoss === "total") throw new DOMException(dataLossMessage, "DataLossError")
        for (const step of upgrades.slice(oldVersion)) await step(db, tx as never)
      }
      upgrade().catch((error: unknown) => {
        reject(error)
        tx.abort()
      })
    }
    opened.onsuccess = () => resolve(opened.result)
    opened.onerror = () => reject(opened.error)
  })
}

function checkStores<S extends DBSchema>(db: IDBDatabase, { description, stores }: DatabaseOptions<S>): IDBDatabase {
  const missing = stores.filter((name) => !db.objectStoreNames.contains(name as string))
  if (missing.length === 0) return db
  db.close()
  throw new StorageError(
    "corrupt",
    `The database of ${description} is of another program, or damaged: it has no ${missing.join(", ")}. Give \`database\` another name, or delete it.`,
    { storage: description },
  )
}

/** The opened database, or `unavailable` if it does not open in time. The opening goes on. */
function withinLimit<S extends DBSchema>(
  promise: Promise<IDBPDatabase<S>>,
  { openingMs = OPENING_MS, ...name }: DatabaseOptions<S>,
): Promise<IDBPDatabase<S>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(toStorageError(timeout("The browser does not answer"), name)), openingMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
