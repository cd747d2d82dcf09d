/** Creates a history in IndexedDB. */
import { checkOptions, type OptionNames, StorageError } from "@sessions/core/storage"
import { createHistory, HISTORY_OPTIONS } from "../history.ts"
import type { HistoryOptions, PromptHistory } from "../types.ts"
import { createStore } from "./store.ts"

export interface IndexedDbHistoryOptions extends HistoryOptions {
  /** The name of the database; default `"@sessions/history"`. Histories of one origin with the same name have the same prompts. */
  readonly database?: string
}

const OPTIONS: OptionNames<IndexedDbHistoryOptions> = { ...HISTORY_OPTIONS, database: true }

/**
 * A history in IndexedDB, for all tabs of one origin. Opens the database at its first use: without IndexedDB that is `unsupported`. Throws
 * `invalid` for unknown options and wrong values.
 */
export function createIndexedDbHistory(o: IndexedDbHistoryOptions = {}): PromptHistory {
  checkOptions("createIndexedDbHistory", o, OPTIONS)
  const { database = "@sessions/history" } = o
  if (typeof database !== "string" || database === "")
    throw new StorageError("invalid", "createIndexedDbHistory: `database` must be a name.")
  return createHistory("createIndexedDbHistory", createStore(database), o)
}
