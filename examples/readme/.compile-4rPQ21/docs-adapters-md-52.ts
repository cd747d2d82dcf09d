import { createFileStorage } from "@sessions/fs"

const storage = createFileStorage({
  root: "./.sessions",
  durability: "os",
  maxPartBytes: 50_000_000,
  maxSessionBytes: 200_000_000,
  lockTimeout: 10_000,
  allowSharedRoot: false,
})
export {}
