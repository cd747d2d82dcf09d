/** The part of `pg` and PGlite that the storage uses: a pool, a single client, or anything of their shape. */

/** A connection: a `pg.Client` that is connected, or a `PGlite`. Parameters are numbers, texts, bytes, arrays of numbers and null. */
export interface PostgresConnection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A statement that the server prepares once for each connection, under this name. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
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

export function isPool(client: PostgresClient): client is PostgresPool {
  return "totalCount" in client
}
