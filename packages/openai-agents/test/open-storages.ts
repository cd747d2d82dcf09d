/** The storages that the tests run on. Each location is opened several times, as several processes do. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PGlite } from "@electric-sql/pglite"
import { createSessions, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createPostgresStorage } from "@sessions/postgres"
import { createObjectStorage } from "@sessions/s3"
import { FakeBucket } from "../../s3/test/fake-bucket.ts"
import { createFakeStore } from "../../s3/test/fake-store.ts"
import { openInFolder } from "./folder-storages.ts"

export interface Location {
  /** Another writer. */
  open(): Sessions
  close(): Promise<void>
}

/** Those that need no server. */
export const STORAGES = ["memory", "files", "sqlite", "s3"] as const

export type StorageName = (typeof STORAGES)[number] | "postgres"

/** A new, empty location. */
export async function openLocation(name: StorageName): Promise<Location> {
  const { open, release } = await openers[name]()
  const opened: Sessions[] = []
  return {
    open() {
      const sessions = createSessions({ storage: open() })
      opened.push(sessions)
      return sessions
    },
    async close() {
      for (const sessions of opened) await sessions.close()
      await release()
    },
  }
}

interface Opener {
  readonly open: () => SessionStorage
  readonly release: () => Promise<void>
}

const nothing = async (): Promise<void> => undefined
let database: PGlite | undefined
let schemas = 0

const openers: Readonly<Record<StorageName, () => Promise<Opener>>> = {
  async memory() {
    const location = createMemoryLocation()
    return { open: () => createMemoryStorage({ location }), release: nothing }
  },
  files: () => inFolder("files"),
  sqlite: () => inFolder("sqlite"),
  async postgres() {
    // Loaded only where it is used: it takes long.
    database ??= await (await import("@electric-sql/pglite")).PGlite.create()
    const client = database
    const schema = `s${schemas++}`
    return { open: () => createPostgresStorage({ client, schema, durability: "os" }), release: nothing }
  },
  async s3() {
    const bucket = new FakeBucket()
    const open = (): SessionStorage =>
      createObjectStorage({ store: createFakeStore(bucket), name: "s3:test", etags: "quoted" })
    return { open, release: nothing }
  },
}

async function inFolder(name: "files" | "sqlite"): Promise<Opener> {
  const folder = await mkdtemp(join(tmpdir(), "openai-agents-"))
  return {
    open: () => openInFolder(name, folder),
    release: () => rm(folder, { recursive: true, force: true }),
  }
}
