import { StorageError } from "@sessions/core/storage"
import { type Describe, enums, min, nonempty, number, object, optional, string, StructError } from "superstruct"

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

/** Mutable on purpose: superstruct's types know no `readonly`, and no optional field without `undefined`. */
interface Checked {
  database?: string | undefined
  durability?: "relaxed" | "strict" | undefined
  maxBatchBytes?: number | undefined
  maxSessionBytes?: number | undefined
}

/** The options with their defaults; `invalid`, with the field, for anything that is no option. */
export function checkOptions(options: IndexedDbStorageOptions): Required<IndexedDbStorageOptions> {
  try {
    OPTIONS.assert(options)
  } catch (error) {
    if (!(error instanceof StructError)) throw error
    throw new StorageError("invalid", `createIndexedDbStorage was given options it does not take: ${error.message}.`, {
      cause: error,
    })
  }
  return {
    database: options.database ?? "sessions",
    durability: options.durability ?? "strict",
    maxBatchBytes: options.maxBatchBytes ?? 50_000_000,
    maxSessionBytes: options.maxSessionBytes ?? 200_000_000,
  }
}

const OPTIONS: Describe<Checked> = object({
  database: optional(nonempty(string())),
  durability: optional(enums(["relaxed", "strict"])),
  maxBatchBytes: optional(min(number(), 2)),
  maxSessionBytes: optional(min(number(), 2)),
})
