/** The storages on which processes are killed. */
import { join } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"

export const kinds: readonly string[] = ["files", "sqlite"]

export function openStorage(kind: string, root: string): SessionStorage {
  if (kind === "files") return createFileStorage({ root })
  return createSqliteStorage({ path: join(root, "sessions.db"), durability: "os" })
}
