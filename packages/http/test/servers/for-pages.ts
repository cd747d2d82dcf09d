/** The server of the browser tests, in the process that starts the browsers: storages in memory, for pages of every origin. */
import type { SessionStorage } from "@sessions/core/storage"
import { createStorageHandler } from "@sessions/http/server"
import { createMemoryStorage } from "@sessions/memory"
import type { TestProject } from "vitest/node"
import { serve } from "./node.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the storage handler. */
    readonly httpStorage: string
  }
}

/** Small, so that the cases that exceed it are fast. */
const BATCH_BYTES = 4_000_000

/** The token of a request names its location. */
export default async function setUp(project: TestProject): Promise<void> {
  const storages = new Map<string, SessionStorage>()
  const url = await serve(
    createStorageHandler({
      authorize: (request) => request.headers.get("authorization"),
      storage(token) {
        const storage = storages.get(token) ?? createMemoryStorage()
        storages.set(token, storage)
        return storage
      },
      cors: { origins: "*" },
      limits: { batchBytes: BATCH_BYTES },
      onError: () => undefined,
    }),
  )
  project.provide("httpStorage", url)
}
