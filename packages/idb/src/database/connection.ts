/** The connection to the database: made at first use, given up when another tab needs that, made anew when it was lost. */
import { StorageError } from "@sessions/core/storage"
import { openDB } from "idb"
import { type Database, type Sessions, STORES, type Upgrade, UPGRADES } from "./schema.ts"
import { toOpenError } from "./errors.ts"
import { rest } from "../rooms/rooms.ts"

export interface Connection {
  /** The open database. Rejects with a {@link StorageError}; the next call tries again. */
  get(): Promise<Database>
  /** This one does not work any more: the next {@link get} opens another. */
  forget(db: Database): void
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly database: string
  readonly description: string
  /** Default: those of this version. */
  readonly upgrades?: readonly Upgrade[]
  /** Milliseconds; default {@link BLOCKED_MS}. */
  readonly blockedAfter?: number
}

/**
 * How long tabs with an older version may take to let go of it. They do so at once when they hear of it, but for a transaction that
 * is under way; one whose program ignores it holds it until it is closed.
 */
const BLOCKED_MS = 5_000

export function createConnection(options: ConnectionOptions): Connection {
  let opening: Opening | undefined
  const forget = (which: Opening): void => {
    if (opening === which) opening = undefined
  }

  return {
    async get() {
      // Once for each opening: a page that is offline would else ask for it with each transaction.
      if (opening === undefined) rest.prefetch()
      const mine = (opening ??= startOpening(options, (which) => forget(which)))
      try {
        return await within(mine, options)
      } catch (error) {
        // One that is blocked may still come: whoever calls next waits for it.
        if (!mine.blocked) forget(mine)
        throw error
      }
    },
    forget(db) {
      if (opening?.db === db) opening = undefined
      db.close()
    },
    async close() {
      const last = opening
      opening = undefined
      // Whatever a blocked or failed opening still brings is closed when it comes.
      const closing = last?.promise.then((db) => db.close()).catch(() => undefined)
      if (last?.db !== undefined) await closing
    },
  }
}

interface Opening {
  readonly promise: Promise<Database>
  /** Resolves when tabs with an older version were asked to go and have not. */
  readonly held: Promise<void>
  db: Database | undefined
  blocked: boolean
}

function startOpening(options: ConnectionOptions, lost: (which: Opening) => void): Opening {
  let holdUp = (): void => undefined
  const held = new Promise<void>((resolve) => {
    holdUp = resolve
  })
  const opening: Opening = {
    held,
    db: undefined,
    blocked: false,
    promise: open(options, {
      blocked() {
        opening.blocked = true
        holdUp()
      },
      // Another tab wants to upgrade or delete the database and waits for this connection to close.
      blocking() {
        lost(opening)
        opening.db?.close()
      },
      terminated: () => lost(opening),
    }).then((db) => {
      opening.db = db
      opening.blocked = false
      return db
    }),
  }
  opening.promise.catch(() => undefined)
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
      `There is no IndexedDB for ${description}: this is no browser, or one that lets this page keep nothing. Use another storage.`,
      { storage: description },
    )
  }
  try {
    const db = await openDB<Sessions>(database, upgrades.length, {
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
    `The database of ${description} is another program's, or was damaged: it has no ${missing.join(", ")}. Give \`database\` another name, or delete it.`,
    { storage: description },
  )
}

async function within(
  { promise, held }: Opening,
  { description, blockedAfter = BLOCKED_MS }: ConnectionOptions,
): Promise<Database> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLong = new Promise<never>((_, reject) => {
    void held.then(() => {
      timer = setTimeout(() => {
        const what = `Another tab or worker holds an older version of ${description} open: close or reload it, then repeat the call.`
        reject(new StorageError("unavailable", what, { storage: description }))
      }, blockedAfter)
    })
  })
  try {
    return await Promise.race([promise, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
