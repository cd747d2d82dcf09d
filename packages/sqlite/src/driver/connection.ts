/** A connection to the file: statements, each compiled once, with the differences between the drivers removed. */
import type { SqliteDatabase, SqliteStatement, SqliteValue } from "./library.ts"

export interface Query<Row> {
  /** The first row; undefined if there is none. */
  get(...values: readonly SqliteValue[]): Row | undefined
  all(...values: readonly SqliteValue[]): Row[]
  /** Row by row. The same query must not be used within the loop. */
  iterate(...values: readonly SqliteValue[]): Iterable<Row>
}

export interface Connection {
  /** A statement that returns rows. */
  query<Row = unknown>(sql: string): Query<Row>
  /** Runs a statement that returns no rows. Returns how many it has changed. */
  run(sql: string, ...values: readonly SqliteValue[]): number
  exec(sql: string): void
  close(): void
}

export function createConnection(database: SqliteDatabase): Connection {
  const queries = new Map<string, Query<unknown>>()
  const commands = new Map<string, SqliteStatement>()
  const statements: SqliteStatement[] = []

  function prepare(sql: string): SqliteStatement {
    const statement = database.prepare(sql)
    statements.push(statement)
    return statement
  }

  function toQuery(sql: string): Query<unknown> {
    const statement = prepare(sql)
    return {
      get: (...values) => statement.get(...values) ?? undefined,
      all: (...values) => statement.all(...values),
      iterate: (...values) => iterate(statement, values),
    }
  }

  return {
    query<Row>(sql: string) {
      let query = queries.get(sql)
      if (query === undefined) queries.set(sql, (query = toQuery(sql)))
      return query as Query<Row>
    },
    run(sql, ...values) {
      let command = commands.get(sql)
      if (command === undefined) commands.set(sql, (command = prepare(sql)))
      return Number(command.run(...values).changes)
    },
    exec: (sql) => void database.exec(sql),
    close() {
      for (const statement of statements) statement.finalize?.()
      database.close()
    },
  }
}

/**
 * What SQLite reports while it gives the rows is thrown once: here, and not by the next use of the statement. Deno 2.9's `iterate` ends as behind the
 * last row where SQLite reports an error, which `all` throws. An error that has passed by then, such as one of the disk, has hidden rows: they follow.
 */
function* iterate(statement: SqliteStatement, values: readonly SqliteValue[]): Iterable<unknown> {
  try {
    let count = 0
    for (const row of statement.iterate(...values)) {
      count++
      yield row
    }
    if ("Deno" in globalThis) yield* statement.all(...values).slice(count)
  } catch (error) {
    clearFailure(statement, values)
    throw error
  }
}

/** Node does not reset a statement that fails here: its next use throws the same error before it runs anything. */
function clearFailure(statement: SqliteStatement, values: readonly SqliteValue[]): void {
  try {
    statement.get(...values)
  } catch {
    // The error that was thrown already.
  }
}

/** Ends a transaction that failed. */
export function rollBack(db: Connection): void {
  try {
    db.run("ROLLBACK")
  } catch {
    // SQLite has rolled back by itself.
  }
}

/**
 * Runs `work` in a write transaction (`BEGIN IMMEDIATE`). If it or the COMMIT throws, the transaction is rolled back and the error thrown. `work`
 * must not wait for a promise.
 */
export function transaction<T>(db: Connection, work: () => T): T {
  try {
    db.run("BEGIN IMMEDIATE")
    const result = work()
    db.run("COMMIT")
    return result
  } catch (error) {
    rollBack(db)
    throw error
  }
}
