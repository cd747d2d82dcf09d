import { createIndexedDbStorage } from "@sessions/idb"
import { trimmingTest } from "./trimming.ts"

trimmingTest("IndexedDB", async () => {
  const database = `langgraph-${crypto.randomUUID()}`
  return [createIndexedDbStorage({ database }), createIndexedDbStorage({ database })]
})
