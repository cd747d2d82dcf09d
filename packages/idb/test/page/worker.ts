/** The worker of the test page: runs groups of the suite, and appends on request. */
import { run } from "@sessions/conformance"
import type { Head } from "@sessions/core/storage"
import { createIndexedDbStorage, type IndexedDbStorage } from "@sessions/idb"
import { indexedDb } from "../subject.ts"
import { answerCalls } from "./calls.ts"
import { summaryOf } from "./summary.ts"

let storage: IndexedDbStorage | undefined

answerCalls({
  conformance: async (only: string[]) => summaryOf(await run(indexedDb, { only })),

  async open(database: string, session: string) {
    storage = createIndexedDbStorage({ database })
    return storage.head(session)
  },

  async close() {
    await storage?.[Symbol.asyncDispose]()
  },

  /** The new head, or the code of the error. */
  async append(session: string, line: string, expect: Head) {
    try {
      return await storage?.append(session, [line], { expect })
    } catch (error) {
      return (error as { code?: string }).code ?? String(error)
    }
  },
})
