/** The storages that several processes can open. */
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"
import { join } from "node:path"

export const IN_FOLDERS = ["files", "sqlite"] as const

export function openInFolder(name: (typeof IN_FOLDERS)[number], folder: string): SessionStorage {
  return name === "files"
    ? createFileStorage({ root: folder })
    : createSqliteStorage({ path: join(folder, "sessions.db"), durability: "os" })
}
