/** The search over a store, and the place of its index. */
import { createHash } from "node:crypto"
import { homedir } from "node:os"
import { join } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import type { Search, SearchIndex } from "@sessions/search"
import type { Io } from "../io.ts"
import { pathOfStore } from "./open.ts"

/**
 * Beside the sessions of a store with a path, so that it is deleted with them; for other stores in the cache folder of the user. Undefined
 * for a store in memory.
 */
export function indexFolderOf(store: string, { cwd, env }: Pick<Io, "cwd" | "env">): string | undefined {
  if (store.startsWith("memory:")) return undefined
  const local = pathOfStore(store, cwd)
  // Names that begin with a dot belong to no session.
  if (local?.scheme === "file") return join(local.path, ".search")
  if (local !== undefined) return `${local.path}-search`
  // The address may have a password.
  const name = createHash("sha256").update(store).digest("hex").slice(0, 32)
  return join(cacheFolder(env), "sessions", "search", name)
}

/** With the index in the folder, or in memory without one. `unsupported` if this runtime has no SQLite. */
export async function openSearch(storage: SessionStorage, folder: string | undefined): Promise<Search> {
  const [{ createMemoryIndex, createSearch }, { messageOf }] = await Promise.all([
    import("@sessions/search"),
    import("@sessions/claude-agent"),
  ])
  const index = folder === undefined ? createMemoryIndex() : await sqliteIndex(folder)
  return createSearch({ storage, index, toMessage: messageOf })
}

async function sqliteIndex(folder: string): Promise<SearchIndex> {
  const { createSqliteIndex } = await import("@sessions/search/sqlite")
  return createSqliteIndex({ folder })
}

function cacheFolder(env: Io["env"]): string {
  const given = env["XDG_CACHE_HOME"] ?? env["LOCALAPPDATA"]
  if (given !== undefined && given !== "") return given
  return process.platform === "darwin" ? join(homedir(), "Library", "Caches") : join(homedir(), ".cache")
}
