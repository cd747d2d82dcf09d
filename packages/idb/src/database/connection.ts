/** The database connection: opened on first use, closed when another tab needs that, and opened again after it was lost. */
import { StorageError } from "@sessions/core/storage"
import { openDB } from "idb"
import { toOpenError } from "./errors.ts"
import { type Database, type Schema, STORES, type Upgrade, UPGRADES } from "./schema.ts"

export interface Connection {
  /** The open database. Rejects with a {@link StorageError}; the next call tries again. */
  get(): Promise<Database>
  /** Closes a connection that no longer works; the next {@link get} opens another. */
  discard(db: Database): void
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly database: string
  readonly description: string
  /** Default: the upgrades of this version. */
  readonly upgrades?: readonly Upgrade[]
  /** How long to wait for tabs with an older version, in milliseconds; default {@link BLOCKED_MS}. */
  readonly blockedAfter?: number
}

/**
 * How long a tab with an older version may keep its connection. It closes as soon as it is asked, or after its running transaction; a
 * program that ignores the request keeps it until its tab is closed.
 */
const BLOCKED_MS = 5_000

export function createConnection(options: ConnectionOptions): Connection {
  let opening: Opening | undefined
  const forget = (which: Opening): void => {
    if (opening === which) opening = undefined
  }

  return {
    async get() {
      const own = (opening ??= startOpening(options, forget))
      return own.db ?? unlessBlocked(own, options)
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

interface Opening {
  readonly promise: Promise<Database>
  /** Resolves when tabs with an older version were asked to close and have not. */
  readonly whenBlocked: Promise<void>
  db: Database | undefined
}

/** `forget` is called when the opening has failed, so that the next call tries again, and when its connection is lost. */
function startOpening(options: ConnectionOptions, forget: (which: Opening) => void): Opening {
  let block = (): void => undefined
  const whenBlocked = new Promise<void>((resolve) => {
    block = resolve
  })
  const opening: Opening = {
    whenBlocked,
    db: undefined,
    promise: open(options, {
      blocked: block,
      // Another tab upgrades or deletes the database and waits until this connection is closed.
      blocking() {
        forget(opening)
        opening.db?.close()
      },
      terminated: () => forget(opening),
    }),
  }
  opening.promise.then(
    (db) => {
      opening.db = db
    },
    () => forget(opening),
  )
  return opening
}

type Callbacks = Record<"blocked" | "blocking" | "terminated", () => void>

async function open(
  { database, description, upgrades = UPGRADES }: ConnectionOptions,
  callbacks: Callbacks,
): Promise<Database> {
  if (typeof indexedDB === "undefined" || indexedDB === null) {
    throw new StorageError(
      "unsupported",
      `${description} needs IndexedDB, which is missing: this is not a browser, or the browser stores nothing for this page. Use another storage.`,
      { storage: description },
    )
  }
  try {
    const db = await openDB<Schema>(database, upgrades.length, {
      ...callbacks,
      async upgrade(db, from, _to, tx) {
        for (const step of upgrades.slice(from)) await step(db, tx)
      },
    })
    checkStores(db, description)
    return db
  } catch (error) {
    throw error instanceof StorageError ? error : toOpenError(error, description)
  }
}

function checkStores(db: Database, description: string): void {
  const missing = STORES.filter((name) => !db.objectStoreNames.contains(name))
  if (missing.length === 0) return
  db.close()
  throw new StorageError(
    "corrupt",
    `The database of ${description} belongs to another program or is damaged: it has no ${missing.join(", ")}. Give \`database\` another name, or delete the database.`,
    { storage: description },
  )
}

/** The opened database, or `unavailable` if other tabs block the opening for too long. The opening goes on: the next call waits for it. */
function unlessBlocked(
  { promise, whenBlocked }: Opening,
  { description, blockedAfter = BLOCKED_MS }: ConnectionOptions,
): Promise<Database> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject)
    void whenBlocked.then(() =>
      setTimeout(() => {
        const message = `Another tab or worker holds an older version of ${description} open: close or reload it, then repeat the call.`
        reject(new StorageError("unavailable", message, { storage: description }))
      }, blockedAfter),
    )
  })
}
