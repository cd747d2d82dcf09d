/** The tables, their version, and the steps that create and upgrade them. */
import { StorageError } from "@sessions/core/storage"
import type { Connection, Database } from "./database.ts"

/** The names of the tables, quoted, with their schema. */
export interface Tables {
  readonly schema: string
  /** The tables' names without the schema begin with it. */
  readonly prefix: string
  readonly meta: string
  readonly session: string
  readonly batch: string
  readonly doc: string
  readonly blob: string
}

export function tablesOf(schema: string, prefix: string): Tables {
  const table = (name: string): string => `"${schema}"."${prefix}${name}"`
  return {
    schema,
    prefix,
    meta: table("meta"),
    session: table("session"),
    batch: table("batch"),
    doc: table("doc"),
    blob: table("blob"),
  }
}

/** Statements that upgrade from the version that equals the step's index in {@link UPGRADES} to the next. */
export type Upgrade = (tables: Tables) => readonly string[]

/**
 * The schema's version is the number of steps. Append to this list, never change it: existing databases ran these steps.
 *
 * - Collation "C": ids and keys differ by their bytes, also in case.
 * - `info`, `body` of documents: bytea, because text cannot hold U+0000.
 * - An append changes neither `id`, `log` nor, within a minute, `minute`, so it is a HOT update that touches no index. With an index on
 *   `updated_at` none is. The fill factor leaves space on the page for the new version of the row.
 * - `mark`: of the last line, if `mark_bytes` is `bytes`; a process of an older version does not set them.
 * - A row of `batch` has the lines of one append, at most 256 KB unless a single line is longer. `append` is random: a writer that lost
 *   the answer recognizes its own append by it.
 * - STORAGE EXTERNAL: bodies of more than 2 KB are out of line and not compressed, so that reading heads and sizes loads no body, and a
 *   part of a body can be read without the rest.
 */
export const UPGRADES: readonly Upgrade[] = [
  ({ meta, session, batch, doc, blob, prefix }) => [
    `CREATE TABLE ${meta} (version int NOT NULL)`,
    `CREATE TABLE ${session} (
      id         text   COLLATE "C" PRIMARY KEY,
      log        text   COLLATE "C" NOT NULL UNIQUE,
      next       bigint NOT NULL CHECK (next > 0),
      bytes      bigint NOT NULL,
      updated_at bigint NOT NULL,
      minute     bigint GENERATED ALWAYS AS (updated_at / 60000) STORED,
      info       bytea,
      info_next  bigint
    ) WITH (fillfactor = 70)`,
    `CREATE INDEX "${prefix}session_minute" ON ${session} (minute DESC)`,
    `CREATE TABLE ${batch} (
      log    text   COLLATE "C" NOT NULL,
      seq    bigint NOT NULL,
      lines  int    NOT NULL,
      bytes  int    NOT NULL,
      append text   COLLATE "C" NOT NULL,
      body   bytea  NOT NULL,
      PRIMARY KEY (log, seq)
    )`,
    `ALTER TABLE ${batch} ALTER COLUMN body SET STORAGE EXTERNAL`,
    `CREATE TABLE ${doc} (key text COLLATE "C" PRIMARY KEY, session text COLLATE "C", body bytea NOT NULL)`,
    `CREATE INDEX "${prefix}doc_session" ON ${doc} (session) WHERE session IS NOT NULL`,
    `CREATE TABLE ${blob} (hash bytea PRIMARY KEY, bytes bigint NOT NULL, put_at bigint NOT NULL, body bytea NOT NULL)`,
    `ALTER TABLE ${blob} ALTER COLUMN body SET STORAGE EXTERNAL`,
  ],
  // A publication of all tables refuses to change rows of a table without one.
  ({ meta }) => [`ALTER TABLE ${meta} ADD PRIMARY KEY (version)`],
  ({ session }) => [`ALTER TABLE ${session} ADD COLUMN mark bigint, ADD COLUMN mark_bytes bigint`],
]

/**
 * Creates or upgrades the tables if their version is an older one; a newer one is `unsupported`, and so are missing tables if `create` is
 * false. Processes that start at the same time
 * wait for each other. If the version is current, nothing but `meta` is read, so a role needs no right to create anything.
 */
export async function prepareSchema(
  db: Database,
  tables: Tables,
  { create, upgrades = UPGRADES }: { readonly create: boolean; readonly upgrades?: readonly Upgrade[] },
): Promise<void> {
  const stored = await versionOf(db, tables)
  if (stored === upgrades.length) return
  if (stored === 0 && !create) throw missingTablesError(tables)
  checkVersion(stored, upgrades)
  await db.transaction(async (tx) => {
    // A lock by a name needs no table that exists already.
    await tx.query("SELECT pg_advisory_xact_lock(hashtext($1))", [`@sessions/postgres ${tables.meta}`])
    const from = await versionOf(tx, tables)
    checkVersion(from, upgrades)
    // With IF NOT EXISTS it would need the right to create schemas even if the schema exists.
    const found = await tx.query("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [tables.schema])
    if (found.length === 0) await tx.query(`CREATE SCHEMA "${tables.schema}"`)
    for (const statement of upgrades.slice(from).flatMap((upgrade) => upgrade(tables))) await tx.query(statement)
    await tx.query(`DELETE FROM ${tables.meta}`)
    await tx.query(`INSERT INTO ${tables.meta} VALUES ($1::int)`, [upgrades.length])
  })
}

/** 0 if there are no tables. They are looked for in the catalogue: `to_regclass` may answer as of the beginning of the transaction. */
async function versionOf(connection: Connection, { schema, prefix, meta }: Tables): Promise<number> {
  const sql = `SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2`
  if ((await connection.query(sql, [schema, `${prefix}meta`])).length === 0) return 0
  const [stored] = await connection.query<{ version: number | bigint }>(`SELECT version FROM ${meta}`)
  return Number(stored?.version ?? 0)
}

function missingTablesError({ schema, prefix }: Tables): StorageError {
  const named = prefix === "" ? "" : ` whose names begin with ${JSON.stringify(prefix)}`
  return new StorageError(
    "unsupported",
    `The schema ${JSON.stringify(schema)} has no tables of @sessions/postgres${named}. Check the names; a storage without \`create: false\` creates the tables.`,
  )
}

function checkVersion(stored: number, upgrades: readonly Upgrade[]): void {
  if (stored <= upgrades.length) return
  throw new StorageError(
    "unsupported",
    `The tables have version ${stored}, and this version of @sessions/postgres knows ${upgrades.length}; update the package.`,
  )
}
