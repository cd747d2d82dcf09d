import { StorageError } from "@sessions/core/storage"

export interface IndexedDbStorageOptions {
  /** The name of the database; default `"sessions"`. Storage objects of one origin with the same name are writers on the same sessions. */
  readonly database?: string
  /**
   * What an acknowledged append survives: `"strict"` (default) a browser that is killed and a power failure, as far as the engine
   * keeps its word; `"relaxed"` the end of the tab, at about twice the appends a second. `sync` makes what is there as good as
   * strict.
   */
  readonly durability?: "relaxed" | "strict"
  /** The largest batch in bytes; a line may be one byte shorter. Default 50,000,000. */
  readonly maxBatchBytes?: number
  /** Told to core, which holds to it. Default 200,000,000. */
  readonly maxSessionBytes?: number
}

/** The options with their defaults; `invalid`, with the field, for anything that is no option. */
export function checkOptions(options: IndexedDbStorageOptions): Required<IndexedDbStorageOptions> {
  const {
    database = "sessions",
    durability = "strict",
    maxBatchBytes = 50_000_000,
    maxSessionBytes = 200_000_000,
    ...unknown
  } = options
  const atLeastTwo = (value: unknown): boolean => typeof value === "number" && value >= 2
  for (const name of Object.keys(unknown)) throw refused(`it has no option \`${name}\``)
  if (typeof database !== "string" || database === "") throw refused("`database` is the name of a database")
  if (durability !== "relaxed" && durability !== "strict") throw refused('`durability` is "strict" or "relaxed"')
  if (!atLeastTwo(maxBatchBytes)) throw refused("`maxBatchBytes` is a number from 2")
  if (!atLeastTwo(maxSessionBytes)) throw refused("`maxSessionBytes` is a number from 2")
  return { database, durability, maxBatchBytes, maxSessionBytes }
}

function refused(why: string): StorageError {
  return new StorageError("invalid", `createIndexedDbStorage was given options that it does not take: ${why}.`)
}
