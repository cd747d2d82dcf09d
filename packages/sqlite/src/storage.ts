/** The storage object: its options and its parts. */
import { resolve } from "node:path"
import {
  checkOptions,
  defineStorage,
  type OptionNames,
  type SessionStorage,
  StorageError,
  watchHeads,
} from "@sessions/core/storage"
import { createAppend } from "./append.ts"
import { createDatabase } from "./database.ts"
import { createBlobs, createDocs } from "./documents.ts"
import type { SqliteDatabase } from "./driver/library.ts"
import { headOf } from "./heads.ts"
import { createList } from "./list.ts"
import { createNotifier } from "./notifier.ts"
import { createRead } from "./read.ts"
import { createDelete, createSweep } from "./remove.ts"
import { createReplace } from "./replace.ts"

export interface SqliteStorageOptions {
  /** The file; made at the first use, in an existing folder, on a local disk. SQLite keeps two files beside it, `-wal` and `-shm`. */
  readonly path: string
  /**
   * The failures that an acknowledged append survives. `"disk"` (default): a power failure. `"os"`: the end of this process, however it ends; `sync`
   * then makes everything written before it as durable as `"disk"`.
   */
  readonly durability?: "disk" | "os"
  /** How many milliseconds a call waits while another connection has locked the file, before it rejects with `unavailable`. Default 10,000. */
  readonly lockTimeout?: number
  /** Opens the file with another library than that of the runtime, such as `(path) => new Database(path)` of better-sqlite3. */
  readonly open?: (path: string) => SqliteDatabase
  /** The largest batch in bytes; a line may be one byte shorter. Default 50,000,000, at most 900,000,000. */
  readonly maxBatchBytes?: number
  /** The largest session in bytes; core enforces it. Default 200,000,000. */
  readonly maxSessionBytes?: number
}

const OPTIONS: OptionNames<SqliteStorageOptions> = {
  path: true,
  durability: true,
  lockTimeout: true,
  open: true,
  maxBatchBytes: true,
  maxSessionBytes: true,
}

/** SQLite allows 1,000,000,000 bytes per row. */
const MOST_BATCH_BYTES = 900_000_000

/**
 * Sessions in one SQLite file, for all processes of one machine. Connects at its first use. Throws `invalid` for unknown options and
 * wrong values.
 */
export function createSqliteStorage(o: SqliteStorageOptions): SessionStorage {
  checkOptions("createSqliteStorage", o, OPTIONS)
  const { durability = "disk", lockTimeout = 10_000, open } = o
  const { maxBatchBytes = 50_000_000, maxSessionBytes = 200_000_000 } = o
  checkPath(o.path)
  checkValues(durability, open, { lockTimeout, maxBatchBytes, maxSessionBytes })
  const path = resolve(o.path)
  const db = createDatabase({ path, open, durability, lockTimeout })
  const { changed, subscribe } = createNotifier(db.dataVersion)
  const head = (session: string) => db.read((tx) => headOf(tx, session))

  return defineStorage({
    description: `sqlite:${path}`,
    capabilities: {
      durability,
      atomicBatch: "all",
      writers: "host",
      listOrder: "updatedAt",
      deleteIf: true,
      maxLineBytes: maxBatchBytes - 1,
      maxBatchBytes,
      maxSessionBytes,
    },
    aborts: true,
    append: createAppend(db, changed),
    head: (session, options) => db.read((tx) => headOf(tx, session), options),
    read: createRead(db),
    list: createList(db),
    delete: createDelete(db, changed),
    sync: (_, options) => db.sync(options),
    replace: createReplace(db, changed),
    watch: watchHeads({ head, subscribe }),
    sweep: createSweep(db),
    docs: createDocs(db),
    blobs: createBlobs(db),
    close: db.close,
  })
}

function checkPath(path: unknown): void {
  if (typeof path !== "string" || path === "")
    throw new StorageError("invalid", "SQLite storage needs `path`, the path of a file.")
  if (path === ":memory:") {
    const message = "Sessions in memory need no SQLite: use createMemoryStorage() of @sessions/memory, or name a file."
    throw new StorageError("invalid", message)
  }
}

function checkValues(durability: unknown, open: unknown, numbers: Readonly<Record<string, number>>): void {
  if (durability !== "disk" && durability !== "os")
    throw new StorageError("invalid", `\`durability\` is "disk" or "os", not ${JSON.stringify(durability)}.`)
  if (open !== undefined && typeof open !== "function")
    throw new StorageError("invalid", "`open` must be a function that opens a file.")
  for (const [name, value] of Object.entries(numbers)) {
    const most = name === "maxBatchBytes" ? MOST_BATCH_BYTES : Number.MAX_SAFE_INTEGER
    if (Number.isSafeInteger(value) && value > 1 && value <= most) continue
    throw new StorageError("invalid", `\`${name}\` must be a whole number from 2 to ${most}, not ${String(value)}.`)
  }
}
