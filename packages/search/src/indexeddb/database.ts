/**
 * The rows in IndexedDB: for each session how far it was read, and the rows with the texts of its entries. Every change raises
 * `generation`, and marks its sessions with it, so that another tab reads only what has changed.
 */
import {
  createConnection,
  type DatabaseContext,
  type DBSchema,
  free,
  readTransaction,
  toStorageError,
  unawaited,
  writeRepeatably,
} from "@sessions/idb/database"
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

export interface Written {
  readonly before: State | undefined
  readonly after: State
  /** The changes that were made. */
  readonly made: readonly IndexChange[]
}

/** The changes since a state; of a session that was removed there is no row in `sessions`. */
export interface Changed {
  readonly state: State
  readonly ids: ReadonlySet<string>
  readonly sessions: readonly StoredSession[]
  readonly rowsOf: (session: string) => Promise<readonly (StoredRow & { readonly seq: number })[]>
}

export class IndexDatabase {
  readonly #database: DatabaseContext<Schema>
  readonly #newEpoch: () => string

  constructor(name: string, newEpoch: () => string) {
    const connection = createConnection<Schema>({
      name,
      description: `the search index ${name}`,
      instead: "createMemoryIndex or createSqliteIndex",
      stores: STORES,
      upgrades: [
        (db) => {
          db.createObjectStore("sessions", { keyPath: "id" }).createIndex("generation", "generation")
          db.createObjectStore("rows")
          db.createObjectStore("state")
        },
      ],
    })
    this.#database = { connection, durability: "relaxed" }
    this.#newEpoch = newEpoch
  }

  /** The state; undefined for a database that is empty. */
  state(): Promise<State | undefined> {
    return this.#named("read", () =>
      readTransaction(this.#database, ["state"], (tx) => tx.objectStore("state").get("state")),
    )
  }

  /** Everything that has another generation than `known`, or all. */
  changedSince(known: State | undefined): Promise<Changed> {
    return this.#named("read", () =>
      readTransaction(this.#database, ["sessions", "state"], async (tx) => {
        // An empty database has the epoch that this object gave it first.
        const empty = known?.generation === 0 ? known : { epoch: this.#newEpoch(), generation: 0 }
        const state = (await tx.objectStore("state").get("state")) ?? empty
        const since = known?.epoch === state.epoch ? known.generation : -1
        const store = tx.objectStore("sessions")
        const sessions = await store.index("generation").getAll(IDBKeyRange.lowerBound(since, true))
        const ids = new Set(await store.getAllKeys())
        return { state, ids, sessions, rowsOf: (session) => this.#rowsOf(session) }
      }),
    )
  }

  /** In one transaction. If it is unknown whether that was committed, the changes are compared with what is there once more. */
  write(changes: readonly IndexChange[]): Promise<Written> {
    return this.#named("write to", () =>
      writeRepeatably(this.#database, STORES, async (tx) => {
        const sessions = tx.objectStore("sessions")
        const rows = tx.objectStore("rows")
        const states = tx.objectStore("state")
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
        return { before, after, made }
      }),
    )
  }

  /** Everything is removed, and the epoch is another one. */
  clear(): Promise<void> {
    return this.#named("clear", () =>
      free(this.#database, STORES, async (tx) => {
        for (const name of STORES) unawaited(tx.objectStore(name).clear())
      }),
    )
  }

  close(): Promise<void> {
    return this.#database.connection.close()
  }

  #rowsOf(session: string): Promise<(StoredRow & { readonly seq: number })[]> {
    return this.#named("read", () =>
      readTransaction(this.#database, ["rows"], async (tx) => {
        const store = tx.objectStore("rows")
        const range = IDBKeyRange.bound([session], [session, []])
        const [keys, rows] = await Promise.all([store.getAllKeys(range), store.getAll(range)])
        return rows.map((row, at) => ({ ...row, seq: (keys[at] as [string, number])[1] }))
      }),
    )
  }

  /** Runs `call` with errors of the storage contract. `doing` completes "Could not …". */
  async #named<T>(doing: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw toStorageError(error, this.#database.connection.name, doing)
    }
  }
}
