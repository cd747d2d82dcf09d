/** `createSqliteStorage`, and what it guarantees. */
import { defineStorage, type SessionStorage } from "@sessions/core/storage"
import { createBlobs } from "./blobs.ts"
import { createDatabase, toError } from "./database.ts"
import { createDocs } from "./docs.ts"
import { openDriver } from "./driver.ts"
import { createLogs } from "./logs.ts"

const reach = { durability: "disk", atomicBatch: "all", writers: "host", listOrder: "id" } as const
/** SQLite allows 1,000,000,000 bytes per row, but a batch is in memory as a whole. */
const limits = { maxLineBytes: 49_999_999, maxBatchBytes: 50_000_000, maxSessionBytes: 200_000_000 }

/** Stores sessions in one SQLite file, in an existing folder, for all processes of one machine. */
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
