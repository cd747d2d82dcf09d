/** The part of `pg` and PGlite that the storage uses: a pool, a single client, or anything of their shape. */

/** A connection: a `pg.Client` that is connected, or a `PGlite`. Parameters are numbers, texts, bytes, arrays of numbers and null. */
export interface PostgresConnection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A statement that the server prepares once for each connection, under this name. */
export interface NamedStatement {
  readonly name?: string
  readonly text: string
  readonly values: unknown[]
  /** How the values of its rows are read. */
  readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown }
}

/** A connection of a pool. `release(true)` closes it. */
export interface PooledConnection extends PostgresConnection {
  query(statement: string | NamedStatement, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  release(destroy?: boolean): void
  on(event: "error" | "notice", listener: (message: { readonly file?: string | undefined }) => void): unknown
}

/** A `pg.Pool`. `totalCount`, the number of its connections, distinguishes it from a client, which has a `connect` as well. */
export interface PostgresPool {
  readonly totalCount: number
  connect(): Promise<PooledConnection>
  /** Tells of each connection that `connect` is about to return. */
  on(event: "acquire", listener: (connection: PooledConnection) => void): unknown
}

export type PostgresClient = PostgresPool | PostgresConnection

/** How a single connection is asked, by what it has that no other has; anything else of its shape gets a text and values. */
export type Kind = "pg" | "pglite" | "other"

export function kindOf(connection: object): Kind {
  if (isCallable(connection, "setTypeParser") && isCallable(connection, "connect")) return "pg"
  return isCallable(connection, "exec") && isCallable(connection, "query") ? "pglite" : "other"
}

/** The problem with a client that was given; undefined if nothing can be seen. */
export function clientProblem(client: unknown): string | undefined {
  const expected = "must be a pg.Pool, a connected pg.Client or a PGlite"
  if (typeof client !== "object" || client === null) return expected
  const isUsable = isPool(client as PostgresClient)
    ? isCallable(client, "connect") && isCallable(client, "on")
    : isCallable(client, "query")
  if (isUsable) return undefined
  // An object-relational mapper, such as drizzle, has the driver's client inside.
  return "$client" in client ? `${expected}; pass its \`$client\`, which is one` : expected
}

/** A `pg.Client` keeps the statements that it gets before `connect()`, so they would wait for ever. */
export function isUnconnected(connection: object): boolean {
  const { _connecting, _connected, _ended } = connection as Record<string, unknown>
  return _connecting === false && _connected === false && _ended === false
}

function isCallable(object: object, name: string): boolean {
  return typeof (object as Record<string, unknown>)[name] === "function"
}

export function isPool(client: PostgresClient): client is PostgresPool {
  return "totalCount" in client
}
