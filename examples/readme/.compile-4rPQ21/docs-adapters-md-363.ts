import { createIndexedDbStorage } from "@sessions/idb"

const storage = createIndexedDbStorage({
  database: "my-agent",
  durability: "strict",
  maxBatchBytes: 50_000_000,
  maxSessionBytes: 200_000_000,
})
export {}
