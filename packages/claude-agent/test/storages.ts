/** The storages that the store is tested on. A place is opened several times at once, as by several processes. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createPostgresStorage } from "@sessions/postgres"
import { createSqliteStorage } from "@sessions/sqlite"
import { FakeBucket } from "../../s3/test/fake-bucket.ts"
import { openStorage } from "../../s3/test/open-storage.ts"

export interface Place {
  /** Characters of a large text. The adapter takes a longer one; PGlite takes a minute for it. */
  readonly largeText: number
  open(): SessionStorage
  remove(): Promise<void>
}

export type Storages = Readonly<Record<string, () => Promise<Place>>>

/** Those that need no server. */
export const storages = {
  memory: async () => {
    const location = createMemoryLocation()
    return {
      ...LARGE,
      open: () => createMemoryStorage({ location, limits: { maxBatchBytes: 4_000_000 } }),
      remove: async () => undefined,
    }
  },
  files: async () => folder((path) => createFileStorage({ root: path })),
  sqlite: async () =>
    folder((path) =>
      createSqliteStorage({ path: join(path, "sessions.db"), durability: "os", maxBatchBytes: 4_000_000 }),
    ),
  async s3() {
    const bucket = new FakeBucket()
    return { ...LARGE, open: () => openStorage(bucket, LIMITS).storage, remove: async () => undefined }
  },
} satisfies Storages

/** PostgreSQL in this process, which takes seconds to start. */
export const pglite: Storages = {
  async postgres() {
    // Loaded only where it is used: it takes long.
    const { PGlite } = await import("@electric-sql/pglite")
    const client = await PGlite.create()
    return {
      largeText: 700_000,
      open: () => createPostgresStorage({ client, durability: "os", pollInterval: 50, maxBatchBytes: 1_500_000 }),
      remove: () => client.close(),
    }
  },
}

/** With limits that take little time to exceed. */
export const limited: Storages = {
  async memory() {
    const location = createMemoryLocation()
    const limits = { maxLineBytes: 1_000_000, maxBatchBytes: 1_500_000 }
    return {
      largeText: 1_200_000,
      open: () => createMemoryStorage({ location, limits }),
      remove: async () => undefined,
    }
  },
}

const LARGE = { largeText: 12_000_000 }
const LIMITS = { maxLineBytes: 1_000_000, maxBatchBytes: 4_000_000 }

function folder(open: (path: string) => SessionStorage): Place {
  const path = mkdtempSync(join(tmpdir(), "sessions-claude-"))
  return { ...LARGE, open: () => open(path), remove: async () => rmSync(path, { recursive: true }) }
}
