/** The storage on files that users of this runtime are told to take. */
import { createFileStorage } from "@sessions/fs"

export const createStorage: typeof createFileStorage =
  "Bun" in globalThis ? (await import("@sessions/bun")).createBunStorage : createFileStorage
