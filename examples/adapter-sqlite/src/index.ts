import { defineStorage, type SessionStorage } from "@sessions/core/storage"
import { createBlobs } from "./blobs.ts"
import { createDatabase, toError } from "./database.ts"
import { createDocs } from "./docs.ts"
import { openDriver } from "./driver.ts"
import { createLogs } from "./logs.ts"

const reach = { durability: "disk", atomicBatch: "all", writers: "host", listOrder: "id" } as const
/** A row of SQLite may have 1,000,000,000 bytes, but a batch is in memory as a whole. */
const limits = { maxLineBytes: 49_999_999, maxBatchBytes: 50_000_000, maxSessionBytes: 200_000_000 }

/** Sessions in one SQLite file, in a folder that exists, for all processes of one machine. */
export function createSqliteStorage(path: string, open: typeof openDriver = openDriver): SessionStorage {
  const db = createDatabase(() => open(path))
  return defineStorage({
    description: `sqlite:${path}`,
    capabilities: { ...reach, ...limits },
    toError,
    ...createLogs(db),
    docs: createDocs(db),
    blobs: createBlobs(db),
    close: db.close,
  })
}
