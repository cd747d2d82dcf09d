import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { createDatabase } from "./database.ts"
import { openDriver } from "./driver.ts"
import { createLogs } from "./logs.ts"
import { createBlobs, createDocs } from "./side.ts"

/** A row of SQLite may have 1,000,000,000 bytes, but a batch is in memory as a whole. */
const limits = { maxLineBytes: 49_999_999, maxBatchBytes: 50_000_000, maxSessionBytes: 200_000_000 }
const reach = { durability: "disk", atomicBatch: "all", writers: "host", listOrder: "id" } as const
export const capabilities: Capabilities = { ...reach, ...limits, sync: false, watch: false, replace: false }

/** Sessions in one SQLite file, in a folder that exists, for all processes of one machine. */
export function createSqliteStorage(path: string, open: typeof openDriver = openDriver): SessionStorage {
  const description = `sqlite:${path}`
  const db = createDatabase(description, () => open(path))
  const [docs, blobs] = [createDocs(db, description), createBlobs(db)]
  const logs = createLogs(db, description, capabilities)
  return { capabilities, description, ...logs, docs, blobs, [Symbol.asyncDispose]: db.close }
}
