/** Names the rights that the role lacks, after the server has denied one without naming it. */
import { StorageError } from "@sessions/core/storage"
import type { Connection } from "./database.ts"
import { sqlState } from "./errors.ts"
import type { Tables } from "./schema.ts"

const DENIED = "42501"

/** The rights that the statements of this package need on its tables. `meta` is changed only by an upgrade. */
const NEEDED = {
  meta: ["SELECT"],
  session: ["SELECT", "INSERT", "UPDATE", "DELETE"],
  batch: ["SELECT", "INSERT", "DELETE"],
  doc: ["SELECT", "INSERT", "UPDATE", "DELETE"],
  blob: ["SELECT", "INSERT", "UPDATE", "DELETE"],
} as const

/** Throws the error, with the missing rights if it denies one. */
export async function explainRights(connection: Connection, tables: Tables, error: unknown): Promise<never> {
  if (sqlState(error) !== DENIED) throw error
  const needed = (Object.keys(NEEDED) as (keyof typeof NEEDED)[]).flatMap((name) =>
    NEEDED[name].map((right) => ({ right, table: tables[name] })),
  )
  const sql = `SELECT right_name || ' on ' || table_name AS missing
    FROM unnest($1::text[], $2::text[]) AS needed (right_name, table_name)
    WHERE NOT has_table_privilege(to_regclass(table_name), right_name)`
  const values = [needed.map(({ right }) => right), needed.map(({ table }) => table)]
  // Without the right to look into the schema, the tables have no names.
  const rows = await connection.query<{ missing: string }>(sql, values).catch(() => [])
  const lacks =
    rows.length > 0 ? rows.map(({ missing }) => missing).join(", ") : `USAGE on schema ${tables.schema}, or CREATE`
  throw new StorageError(
    "misconfigured",
    `The server denied it (${(error as Error).message}): the role lacks ${lacks}. docs/postgres.md has the GRANT statements.`,
    { cause: error },
  )
}
