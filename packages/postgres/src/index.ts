export type { NamedStatement, PooledConnection, PostgresClient, PostgresConnection, PostgresPool } from "./client.ts"
export { createPostgresStorage, type PostgresStorage, type PostgresStorageOptions } from "./storage.ts"
