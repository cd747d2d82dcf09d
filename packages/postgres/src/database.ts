/**
 * Statements and transactions over a pool or a single connection. A statement whose answer was lost is sent again if it is safe to repeat, on
 * another connection if there is a pool.
 */
import { sha256Hex, StorageError } from "@sessions/core/storage"
import {
  isPool,
  isUnconnected,
  type Kind,
  kindOf,
  type NamedStatement,
  type PooledConnection,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
} from "./client.ts"
import { Ended, isMisplaced, isUnused, NotSent, outcomeOf, TimedOut, Unconfirmed, UnknownOutcome } from "./errors.ts"
import { PGLITE_OPTIONS, TYPES } from "./types.ts"

export interface Connection {
  /** Runs one statement. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

export interface Answer<Row> {
  readonly rows: readonly Row[]
  /** The answer to an earlier attempt was lost, so this one may have met what that one did. Find that out with `settle`. */
  readonly lost?: UnknownOutcome
}

export interface Database extends Connection {
  /**
   * Runs one statement, which must be safe to repeat. Rejects with {@link UnknownOutcome} if answers were lost and no repeat succeeded, and
   * with {@link Unconfirmed} if the wait for a standby was ended.
   */
  run<Row>(text: string, values?: readonly unknown[]): Promise<Answer<Row>>
  /**
   * Runs one statement that makes a row under a name which is free, and is not repeated if its answer was lost: another writer may have met
   * the row and removed it, and a repeat would bring it back. Then the answer has no rows and is `lost`.
   */
  make<Row>(text: string, values?: readonly unknown[]): Promise<Answer<Row>>
  /**
   * Runs a transaction on one connection; other statements of a single client wait for its end. Any error of `work` rolls it back.
   * Rejects with {@link UnknownOutcome} only if the answer to the commit was lost.
   */
  transaction<T>(work: (tx: Connection) => Promise<T>): Promise<T>
  /**
   * Resolves when the standby has every commit that was made before, at once if no durability demands one. Call it before an answer that
   * rests on a commit whose own answer was lost.
   */
  awaitStandby(): Promise<void>
}

/** A commit that waits for the standby, and by that for all commits before it. */
const BARRIER = "SELECT pg_logical_emit_message(true, '@sessions/postgres', '')"

/** The source file of the server whose notices tell that a wait for a standby was ended. Their texts are in the language of `lc_messages`. */
const WAIT_FILE = "syncrep.c"

/** All pauses together take about six seconds, in which a crashed server has usually recovered. */
const TRIES = 8
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 2_000

/** Milliseconds of a wait if the caller names none: for a connection, and for each answer. */
const TIMEOUT = 60_000
/** Bytes that the slowest way to a server takes in a millisecond. */
const SLOWEST = 50

export function createDatabase(client: PostgresClient, awaitsStandby: boolean, timeout: number = TIMEOUT): Database {
  const use = isPool(client) ? usePool(client, awaitsStandby, timeout) : useOne(client)
  const kind = isPool(client) ? "pg" : kindOf(client)

  async function rowsOf<Row>(
    connection: PostgresConnection,
    text: string,
    values: readonly unknown[],
    name?: string,
  ): Promise<readonly Row[]> {
    const bytes = values.reduce<number>((sum, value) => sum + (value instanceof Uint8Array ? value.length : 0), 0)
    const asked = ask(connection, kind, {
      ...(name !== undefined && { name }),
      text,
      values: [...values],
      types: TYPES,
    })
    const { rows } = await within(timeout + bytes / SLOWEST, asked, () => {
      return new TimedOut(new Error(`no answer came for ${timeout} ms`))
    })
    if (!Array.isArray(rows))
      throw new StorageError("invalid", "The client's `query` gives no `rows`, as that of pg does.")
    return rows as readonly Row[]
  }

  /** Names by text; undefined: statements have none. */
  let names = isPool(client) ? new Map<string, string>() : undefined

  /**
   * The server parses and plans a prepared statement once for a connection, which takes half the time of an append. The name is made of
   * the text: behind a pooler, a statement of another client with this name is the same statement.
   */
  async function execute<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    if (names !== undefined) {
      let name = names.get(text)
      if (name === undefined) {
        name = `sessions_${(await sha256Hex(text)).slice(0, 32)}`
        names?.set(text, name)
      }
      const known = name
      try {
        return await use((connection) => rowsOf<Row>(connection, text, values, known))
      } catch (error) {
        if (!isMisplaced(error)) throw error
        names = undefined
      }
    }
    return use((connection) => rowsOf<Row>(connection, text, values))
  }

  async function run<Row>(text: string, values: readonly unknown[] = [], { once = false } = {}): Promise<Answer<Row>> {
    let lost: UnknownOutcome | undefined
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await execute<Row>(text, values)
        // A repeat that finds what the first attempt has committed waits for no standby.
        if (lost !== undefined && awaitsStandby) await use((connection) => rowsOf(connection, BARRIER, []))
        return { rows, ...(lost && { lost }) }
      } catch (error) {
        // Repeats would wait as long again, each.
        if (error instanceof Unconfirmed || error instanceof TimedOut) throw error
        const outcome = outcomeOf(error)
        if (outcome === "unknown") lost ??= error instanceof UnknownOutcome ? error : new UnknownOutcome(error)
        if (lost !== undefined && once) return { rows: [], lost }
        // A server that answers a repeat with an error says nothing about the first attempt.
        if (attempt === TRIES || (outcome === "refused" && lost === undefined)) throw lost ?? error
        await pause(attempt)
      }
    }
  }

  return {
    run: (text, values) => run(text, values),
    make: (text, values) => run(text, values, { once: true }),
    query: async <Row>(text: string, values?: readonly unknown[]) => (await run<Row>(text, values)).rows,

    async awaitStandby() {
      if (awaitsStandby) await run(BARRIER)
    },

    transaction: (work) =>
      use(async (connection) => {
        const tx: Connection = { query: (text, values = []) => rowsOf(connection, text, values) }
        let result
        try {
          await tx.query("BEGIN ISOLATION LEVEL READ COMMITTED")
          result = await work(tx)
        } catch (error) {
          // Without a commit the server rolls back, also when it notices only later that the connection is gone.
          if (outcomeOf(error) === "unknown") throw new NotSent(error)
          await tx.query("ROLLBACK").catch(() => undefined)
          throw error
        }
        await tx.query("COMMIT").catch((error: unknown) => {
          throw outcomeOf(error) === "unknown" ? new UnknownOutcome(error) : error
        })
        return result
      }),
  }
}

type Use = <T>(work: (connection: PostgresConnection) => Promise<T>) => Promise<T>

/** Pools with a listener of this package. */
const pools = new WeakSet<PostgresPool>()

/**
 * A connection that ends emits an error, which would end the process if nothing listens, and while it is in use the pool does not. One that
 * ends when it has just been made does so before `connect` has returned it.
 */
function listenForErrors(pool: PostgresPool): void {
  if (pools.has(pool)) return
  pools.add(pool)
  const connections = new WeakSet<PooledConnection>()
  pool.on("acquire", (connection) => {
    if (connections.has(connection)) return
    connections.add(connection)
    connection.on("error", () => undefined)
  })
}

function usePool(pool: PostgresPool, awaitsStandby: boolean, timeout: number): Use {
  listenForErrors(pool)
  const noticed = new WeakSet<PooledConnection>()
  const unconfirmed = new WeakSet<PooledConnection>()

  function listenForNotices(connection: PooledConnection): void {
    if (noticed.has(connection)) return
    noticed.add(connection)
    connection.on("notice", ({ file }) => {
      if (file === WAIT_FILE) unconfirmed.add(connection)
    })
  }

  return async (work) => {
    const connecting = pool.connect()
    const connection = await within(timeout, connecting, () => {
      // It may still come, and then is of no use here.
      connecting.then(
        (late) => late.release(),
        () => undefined,
      )
      return new Error(`no connection of the pool was free for ${timeout} ms`)
    }).catch((error: unknown) => {
      throw new NotSent(error)
    })
    if (awaitsStandby) listenForNotices(connection)
    // Another user of the pool may have had a commit that was not confirmed.
    unconfirmed.delete(connection)
    let broken = true
    try {
      const result = await work(connection)
      broken = false
      if (awaitsStandby && unconfirmed.delete(connection))
        throw new Unconfirmed("the standby has not confirmed the commit")
      return result
    } catch (error) {
      broken &&= outcomeOf(error) === "unknown" || error instanceof NotSent || isUnused(error)
      throw isUnused(error) ? new Ended(error) : error
    } finally {
      connection.release(broken)
    }
  }
}

/** The last call on each single client, since several storage objects may use one. */
const calls = new WeakMap<PostgresConnection, Promise<unknown>>()

/** One call at a time: a statement of another call must not become part of a transaction. */
function useOne(connection: PostgresConnection): Use {
  return (work) => {
    if (isUnconnected(connection)) return Promise.reject(unconnectedError())
    const result = (calls.get(connection) ?? Promise.resolve()).then(() => work(connection))
    calls.set(
      connection,
      result.catch(() => undefined),
    )
    return result
  }
}

function unconnectedError(): StorageError {
  return new StorageError("invalid", "The pg.Client is not connected: `await client.connect()` before its first use.")
}

function ask(
  connection: PostgresConnection,
  kind: Kind,
  statement: NamedStatement,
): Promise<{ readonly rows: readonly unknown[] }> {
  const { text, values } = statement
  if (kind === "pg") return (connection as PooledConnection).query(statement)
  if (kind === "other") return connection.query(text, values)
  const pglite = connection as { query(text: string, values: unknown[], options: object): ReturnType<typeof ask> }
  return pglite.query(text, values, PGLITE_OPTIONS)
}

/** Rejects with what `late` gives if the work takes longer than this. */
function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function pause(attempt: number): Promise<void> {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt)
  return new Promise((resolve) => setTimeout(resolve, most / 2 + (Math.random() * most) / 2))
}
