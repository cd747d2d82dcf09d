/**
 * What is kept in IndexedDB: for each session how far it was read, and the rows with the texts of its entries. Every change raises
 * `generation`, and marks its sessions with it, so that another tab reads only what has changed.
 */
import { SessionError } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { type DBSchema, type IDBPDatabase, openDB } from "idb"
import { type IndexChange, type IndexedHead, isAt } from "../search-index.ts"

export interface StoredRow {
  readonly entryId: string
  readonly role: string
  readonly timestamp: string
  readonly time: number
  readonly text: string
}

export interface StoredSession {
  readonly id: string
  readonly head: IndexedHead
  readonly cwd?: string
  readonly generation: number
}

export interface State {
  readonly epoch: string
  readonly generation: number
}

interface Schema extends DBSchema {
  sessions: { key: string; value: StoredSession; indexes: { generation: number } }
  rows: { key: [session: string, seq: number]; value: StoredRow }
  state: { key: "state"; value: State }
}

const STORES = ["sessions", "rows", "state"] as const
type Database = IDBPDatabase<Schema>

/** Of the object stores. */
const VERSION = 1

export interface Written {
  readonly before: State | undefined
  readonly after: State
  /** The changes that were made. */
  readonly made: readonly IndexChange[]
}

/** What has changed since a state; of a session that was removed there is no row in `sessions`. */
export interface Changed {
  readonly state: State
  readonly ids: ReadonlySet<string>
  readonly sessions: readonly StoredSession[]
  readonly rowsOf: (session: string) => Promise<readonly (StoredRow & { readonly seq: number })[]>
}

export class IndexDatabase {
  readonly #name: string
  readonly #newEpoch: () => string
  #opening: Promise<Database> | undefined

  constructor(name: string, newEpoch: () => string) {
    this.#name = name
    this.#newEpoch = newEpoch
  }

  /** The state; undefined for a database that is empty. */
  state(): Promise<State | undefined> {
    return this.#use((db) => db.get("state", "state"))
  }

  /** Everything that has another generation than `known`, or all. */
  changedSince(known: State | undefined): Promise<Changed> {
    return this.#use(async (db) => {
      const tx = db.transaction(["sessions", "state"])
      const state = (await tx.objectStore("state").get("state")) ?? { epoch: this.#newEpoch(), generation: 0 }
      const since = known?.epoch === state.epoch ? known.generation : -1
      const sessions = await tx.objectStore("sessions").index("generation").getAll(IDBKeyRange.lowerBound(since, true))
      const ids = new Set(await tx.objectStore("sessions").getAllKeys())
      return { state, ids, sessions, rowsOf: (session) => this.#rowsOf(session) }
    })
  }

  /** In one transaction. */
  write(changes: readonly IndexChange[]): Promise<Written> {
    return this.#use(async (db) => {
      const tx = db.transaction(STORES, "readwrite", { durability: "relaxed" })
      const [sessions, rows, states] = STORES.map((name) => tx.objectStore(name)) as unknown as [
        ReturnType<typeof tx.objectStore<"sessions">>,
        ReturnType<typeof tx.objectStore<"rows">>,
        ReturnType<typeof tx.objectStore<"state">>,
      ]
      const made: IndexChange[] = []
      const before = await states.get("state")
      const after = { epoch: before?.epoch ?? this.#newEpoch(), generation: (before?.generation ?? 0) + 1 }
      for (const change of changes) {
        const { session, expect, head, reset, removed } = change
        const known = await sessions.get(session)
        if (!isAt(known?.head, expect)) continue
        made.push(change)
        const all = IDBKeyRange.bound([session], [session, []])
        if (reset) await rows.delete(all)
        else if (removed.length > 0) {
          for (let cursor = await rows.openCursor(all); cursor !== null; cursor = await cursor.continue())
            if (removed.includes(cursor.value.entryId)) await cursor.delete()
        }
        if (head === undefined) {
          await sessions.delete(session)
          continue
        }
        const cwd = change.cwd ?? (reset ? undefined : known?.cwd)
        await sessions.put({ id: session, head, generation: after.generation, ...(cwd === undefined ? {} : { cwd }) })
        for (const { seq, words: _, ...row } of change.rows) unawaited(rows.put(row, [session, seq]))
      }
      unawaited(states.put(after, "state"))
      await tx.done
      return { before, after, made }
    })
  }

  /** Everything is removed, and the epoch is another one. */
  clear(): Promise<void> {
    return this.#use(async (db) => {
      const tx = db.transaction(STORES, "readwrite")
      for (const name of STORES) unawaited(tx.objectStore(name).clear())
      unawaited(tx.objectStore("state").put({ epoch: this.#newEpoch(), generation: 1 }, "state"))
      await tx.done
    })
  }

  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    await opening?.then((db) => db.close()).catch(() => undefined)
  }

  #rowsOf(session: string): Promise<(StoredRow & { readonly seq: number })[]> {
    return this.#use(async (db) => {
      const tx = db.transaction("rows")
      const range = IDBKeyRange.bound([session], [session, []])
      const [keys, rows] = await Promise.all([tx.store.getAllKeys(range), tx.store.getAll(range)])
      return rows.map((row, at) => ({ ...row, seq: (keys[at] as [string, number])[1] }))
    })
  }

  async #use<T>(work: (db: Database) => Promise<T>): Promise<T> {
    // A connection that the browser has closed is replaced once.
    for (let attempt = 1; ; attempt++) {
      const db = await this.#open()
      try {
        return await work(db)
      } catch (error) {
        if (attempt > 1 || (error as Error).name !== "InvalidStateError") throw toError(error, this.#name)
        this.#opening = undefined
      }
    }
  }

  #open(): Promise<Database> {
    if (typeof indexedDB === "undefined") {
      const message = "There is no IndexedDB here. Use createSqliteIndex or createMemoryIndex."
      return Promise.reject(new StorageError("unsupported", message))
    }
    this.#opening ??= openDB<Schema>(this.#name, VERSION, {
      upgrade(db) {
        db.createObjectStore("sessions", { keyPath: "id" }).createIndex("generation", "generation")
        db.createObjectStore("rows")
        db.createObjectStore("state")
      },
      // Another tab deletes the database or upgrades it.
      blocking: () => void this.close(),
      terminated: () => {
        this.#opening = undefined
      },
    }).then(
      (db) => {
        if (STORES.every((name) => db.objectStoreNames.contains(name))) return db
        db.close()
        this.#opening = undefined
        const message = `The database ${this.#name} belongs to another program. Give \`database\` another name.`
        throw new StorageError("corrupt", message)
      },
      (error: unknown) => {
        this.#opening = undefined
        throw toError(error, this.#name)
      },
    )
    return this.#opening
  }
}

/** If the request fails, its transaction is aborted with the reason. */
function unawaited(request: Promise<unknown>): void {
  request.catch(() => undefined)
}

function toError(error: unknown, name: string): unknown {
  if (error instanceof StorageError || !(error instanceof Error || error instanceof DOMException)) return error
  switch (error.name) {
    case "VersionError":
      return new SessionError(
        "newer_version",
        `The search index in the database ${name} is of a newer version of this program. Reload the page to get that version.`,
      )
    case "QuotaExceededError":
      return new StorageError("quota", `The search index does not fit: this site's share of the disk is used up.`, {
        cause: error,
      })
    case "TypeError":
    case "RangeError":
      return error
    default:
      return new StorageError(
        "unavailable",
        `The database ${name} does not answer (${error.message}). Repeat the call.`,
        {
          cause: error,
        },
      )
  }
}
