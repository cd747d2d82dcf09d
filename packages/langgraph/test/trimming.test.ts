/** Trimming on every storage that needs no server; `trim.test.ts` has its rules. */
import { join } from "node:path"
import { createFileStorage } from "@sessions/fs"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createSqliteStorage } from "@sessions/sqlite"
import { FakeBucket } from "../../s3/test/fake-bucket.ts"
import { openStorage } from "../../s3/test/open-storage.ts"
import { newFolder } from "./folders.ts"
import { trimmingTest } from "./trimming.ts"

trimmingTest("memory", async () => {
  const location = createMemoryLocation()
  return [createMemoryStorage({ location }), createMemoryStorage({ location })]
})

trimmingTest("files", async () => {
  const root = newFolder()
  return [createFileStorage({ root, durability: "os" }), createFileStorage({ root, durability: "os" })]
})

trimmingTest("SQLite", async () => {
  const options = { path: join(newFolder(), "sessions.db"), durability: "os" } as const
  return [createSqliteStorage(options), createSqliteStorage(options)]
})

trimmingTest("S3", async () => {
  const bucket = new FakeBucket()
  return [openStorage(bucket).storage, openStorage(bucket).storage]
})
