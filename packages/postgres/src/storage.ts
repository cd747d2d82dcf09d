/** `createPostgresStorage`: its options, what it guarantees, and how the parts are put together. */
import {
  type Capabilities,
  checkOptions,
  connectOnce,
  defineStorage,
  type Defined,
  type OptionNames,
  type StorageAdapter,
  StorageError,
} from "@sessions/core/storage"
import { createAppend } from "./append.ts"
import { clientProblem, type PostgresClient } from "./client.ts"
import { createDatabase, type Database } from "./database.ts"
import { createBlobs, createDocuments } from "./documents.ts"
import { checkServer } from "./durability.ts"
import { toError } from "./errors.ts"
import { createHead, createHeadAndFirst } from "./heads.ts"
import { createList } from "./list.ts"
import { createRead } from "./read.ts"
import { createDelete } from "./remove.ts"
import { createReplace } from "./replace.ts"
import { explainRights } from "./rights.ts"
import { prepareSchema, tablesOf } from "./schema.ts"
import { createWatchers } from "./watch.ts"

export interface PostgresStorageOptions {
  /** Your `pg.Pool`, a connected `pg.Client`, or a `PGlite`. Closing the storage does not end it. */
  readonly client: PostgresClient
  /** The schema of the tables; default `"sessions"`. It is created if it is missing. */
  readonly schema?: string
  /** The tables' names begin with it; default none. */
  readonly prefix?: string
  /** `false` creates no tables: if they are missing, every call is `unsupported`. Default `true`. */
  readonly create?: boolean
  /** Names the database in messages, without a password; default `"postgres"`. */
  readonly name?: string
  /**
   * The failures that an acknowledged append survives: `"disk"` (default) a power failure, `"replicated"` the loss of the primary's disk, `"os"` the
   * end of a process, `"none"` nothing (PGlite in memory). The server's settings must provide it, else every call is `unsupported`.
   */
  readonly durability?: Capabilities["durability"]
  /**
   * Milliseconds that a call waits for a connection of the pool, and for each answer of the server, before it rejects: `unavailable`, or
   * `indeterminate` if it may have written. What a statement sends has a second more for each 50 KB. Default 60,000.
   */
  readonly timeout?: number
  /** Milliseconds between two questions for appends of other writers, for all watched sessions together; default 1,000. */
  readonly pollInterval?: number
  /** The largest batch in bytes; a line may be one byte shorter. Default 50,000,000, at most 250,000,000. */
  readonly maxBatchBytes?: number
  /** The largest session in bytes; core enforces it. Default 200,000,000. */
  readonly maxSessionBytes?: number
}

const OPTIONS: OptionNames<PostgresStorageOptions> = {
  client: true,
  schema: true,
  prefix: true,
  create: true,
  name: true,
  durability: true,
  timeout: true,
  pollInterval: true,
  maxBatchBytes: true,
  maxSessionBytes: true,
}

export type PostgresStorage = Defined<
  Omit<StorageAdapter, "sweep"> & Required<Pick<StorageAdapter, "sync" | "watch" | "replace">>
>

/**
 * Stores sessions in PostgreSQL 12 or later, for any number of writers anywhere. An append is one statement in one round trip. Tables are
 * created (unless `create` is false) and upgraded at the first use. Throws `invalid` for unknown options and wrong values.
 */
export function createPostgresStorage(options: PostgresStorageOptions): PostgresStorage {
  checkOptions("createPostgresStorage", options, OPTIONS)
  checkValues(options)
  const { client, schema = "sessions", prefix = "", create = true, name = "postgres", durability = "disk" } = options
  const { maxBatchBytes = 50_000_000, maxSessionBytes = 200_000_000, pollInterval = 1_000 } = options
  const tables = tablesOf(schema, prefix)
  const database = createDatabase(client, durability === "replicated", options.timeout)
  const denied = (error: unknown): Promise<never> => explainRights(database, tables, error)
  const prepared = connectOnce({
    open: async () => {
      const server = await checkServer(database, durability)
      await prepareSchema(database, tables, { create }).catch(denied)
      return { ...database, ...server }
    },
    close: () => undefined,
  })
  const db: Database = {
    run: async (text, values) => (await prepared.get()).run<never>(text, values).catch(denied),
    make: async (text, values) => (await prepared.get()).make<never>(text, values).catch(denied),
    query: async (text, values) => (await prepared.get()).query<never>(text, values).catch(denied),
    transaction: async (work) => (await prepared.get()).transaction(work).catch(denied),
    awaitStandby: () => database.awaitStandby(),
  }
  const head = createHead(db, tables)
  const headAndFirst = createHeadAndFirst(db, tables)
  const watchers = createWatchers(db, tables, pollInterval, head)
  const append = createAppend(db, tables, head)
  const remove = createDelete(db, tables)
  const replace = createReplace(db, tables, head)

  return defineStorage({
    description: `${name}:${prefix === "" ? schema : `${schema}.${prefix}`}`,
    capabilities: {
      durability,
      atomicBatch: "all",
      writers: "any",
      listOrder: "updatedAt",
      deleteIf: true,
      maxLineBytes: maxBatchBytes - 1,
      maxBatchBytes,
      maxSessionBytes,
    },
    toError,

    async append(session, lines, o) {
      const after = await append(session, lines, o)
      watchers.changed(session)
      return after
    },
    head: (session, { first }) => (first === true ? headAndFirst(session) : head(session)),
    read: createRead(db, tables, prepared.get),
    list: createList(db, tables),
    async delete(session, o) {
      const deleted = await remove(session, o)
      watchers.changed(session)
      return deleted
    },
    sync() {
      // An acknowledged append is as durable as it will be.
    },
    async replace(session, chunks, o) {
      const after = await replace(session, chunks, o)
      watchers.changed(session)
      return after
    },
    watch: watchers.watch,
    docs: createDocuments(db, tables),
    blobs: createBlobs(db, tables),
    close: watchers.close,
  })
}

/** Part of statements, so letters, digits and underscores only. With `session_minute`, the longest name, at most the server's 63 bytes. */
const NAME = /^[a-z_][a-z0-9_]{0,40}$/
/** An answer has two characters for each byte of a body, and the longest string of a JavaScript engine has about 512 MB. */
const MOST_BATCH_BYTES = 250_000_000
const DURABILITIES = ["none", "os", "disk", "replicated"]

function checkValues(options: PostgresStorageOptions): void {
  const { client, schema = "sessions", prefix = "", create = true, name = "", durability = "disk" } = options
  const problem = clientProblem(client)
  if (problem !== undefined) throw invalidError(`\`client\` ${problem}.`)
  if (!NAME.test(schema)) throw invalidError(`\`schema\` must match ${NAME}.`)
  if (prefix !== "" && !NAME.test(prefix)) throw invalidError(`\`prefix\` must match ${NAME}.`)
  if (typeof create !== "boolean") throw invalidError("`create` must be true or false.")
  if (typeof name !== "string") throw invalidError("`name` must be a string.")
  if (!DURABILITIES.includes(durability))
    throw invalidError(`\`durability\` must be one of ${DURABILITIES.join(", ")}.`)
  for (const key of ["timeout", "pollInterval", "maxBatchBytes", "maxSessionBytes"] as const) {
    const value = options[key]
    const most = key === "maxBatchBytes" ? MOST_BATCH_BYTES : Number.MAX_SAFE_INTEGER
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 1 && value <= most))
      throw invalidError(`\`${key}\` must be a whole number from 2 to ${most}, not ${String(value)}.`)
  }
}

function invalidError(message: string): StorageError {
  return new StorageError("invalid", `createPostgresStorage: ${message}`, { storage: "postgres" })
}
