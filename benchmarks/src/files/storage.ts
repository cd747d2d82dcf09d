/** The file storage that the documentation recommends for this runtime. */
import { createFileStorage } from "@sessions/fs"

export const createStorage: typeof createFileStorage =
  "Bun" in globalThis ? (await import("@sessions/bun")).createBunStorage : createFileStorage
