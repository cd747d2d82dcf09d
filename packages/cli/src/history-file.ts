/** The prompt history of a store, for the command that shows and clears it. The package is loaded by that command only. */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { PromptHistory } from "@sessions/history"
import { CommandError, UsageError } from "./errors.ts"
import type { Io } from "./io.ts"
import { absoluteFolder } from "./store/resolve.ts"
import { pathOfStore } from "./store/open.ts"

/** The given file, else `history.db` in the folder of a file store, or beside the file of a SQLite store. */
export function historyFileOf(store: string, { cwd }: Pick<Io, "cwd">, given: string | undefined): string {
  const local = pathOfStore(store, cwd)
  if (given === undefined && local === undefined)
    throw new UsageError("this store has no place for a history; name its file with --file PATH.")
  const path =
    given === undefined
      ? join(local?.scheme === "file" ? local.path : dirname(local?.path as string), "history.db")
      : absoluteFolder(given, cwd)
  if (existsSync(path)) return path
  throw new CommandError(
    `there is no history at ${path}; name another file with --file, or another store with --store.`,
  )
}

export async function withHistory<T>(path: string, use: (history: PromptHistory) => Promise<T>): Promise<T> {
  const { createSqliteHistory } = await import("@sessions/history/sqlite")
  const history = createSqliteHistory({ path })
  try {
    return await use(history)
  } finally {
    await history.close()
  }
}
