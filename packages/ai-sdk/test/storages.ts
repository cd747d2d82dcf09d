/** The storages that the tests run on. Each `open` is a storage of another process on the same place. */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PGlite } from "@electric-sql/pglite"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "@sessions/memory"
import { createPostgresStorage } from "@sessions/postgres"
import { createObjectStorage } from "@sessions/s3"
import { createSqliteStorage } from "@sessions/sqlite"
import { afterAll } from "vitest"
import { FakeBucket } from "../../s3/test/fake-bucket.ts"
import { createFakeStore } from "../../s3/test/fake-store.ts"

export interface Place {
  open(): SessionStorage
  remove(): Promise<void>
}

export type Storages = readonly (readonly [string, () => Promise<Place>])[]

/** Those that need no server. */
export const storages: Storages = [
  ["memory", memory],
  ["files", files],
  ["sqlite", sqlite],
  ["s3", s3],
]

/** PGlite, PostgreSQL in this process. */
export const pglite: Storages = [["postgres", postgres]]

async function memory(): Promise<Place> {
  const storage = createMemoryStorage()
  return { open: () => storage, remove: async () => undefined }
}

async function files(): Promise<Place> {
  const root = fs.mkdtempSync(join(tmpdir(), "sessions-ai-sdk-"))
  return {
    open: () => createFileStorage({ root }),
    remove: async () => fs.rmSync(root, { recursive: true, force: true }),
  }
}

async function sqlite(): Promise<Place> {
  const root = fs.mkdtempSync(join(tmpdir(), "sessions-ai-sdk-"))
  return {
    open: () => createSqliteStorage({ path: join(root, "sessions.db"), durability: "os" }),
    remove: async () => fs.rmSync(root, { recursive: true, force: true }),
  }
}

let database: PGlite | undefined
let schemas = 0

/** One PostgreSQL for all places of a test file, since starting it takes seconds; each place is a schema. */
async function postgres(): Promise<Place> {
  const client = (database ??= await createDatabase())
  const schema = `s${++schemas}`
  return {
    open: () => createPostgresStorage({ client, schema, durability: "os", pollInterval: 50 }),
    remove: async () => undefined,
  }
}

/** Loaded only where it is used: it takes long. */
async function createDatabase(): Promise<PGlite> {
  const { PGlite } = await import("@electric-sql/pglite")
  return PGlite.create()
}

afterAll(() => database?.close())

async function s3(): Promise<Place> {
  const bucket = new FakeBucket()
  return {
    open: () => createObjectStorage({ store: createFakeStore(bucket), name: "s3" }),
    remove: async () => undefined,
  }
}
