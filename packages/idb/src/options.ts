/** The options of `createIndexedDbStorage`: their types, checks and defaults. */
import { checkOptions as checkNames, StorageError } from "@sessions/core/storage"
import { define, type Failure, optional, type, validate } from "superstruct"

export interface IndexedDbStorageOptions {
  /** The name of the database; default `"@sessions/idb"`. Storage objects of one origin with the same name share the same sessions. */
  readonly database?: string
  /**
   * The failures that an acknowledged append survives. `"strict"` (default): a killed browser and a power failure, as far as the engine keeps its
   * promise. `"relaxed"`: the end of the tab, at about twice the appends per second; `sync` then makes everything written before it as
   * durable as `"strict"`.
   */
  readonly durability?: "relaxed" | "strict"
  /** The largest batch in bytes; a line may be one byte shorter. Default 50,000,000. */
  readonly maxBatchBytes?: number
  /** The largest session in bytes; core enforces it. Default 200,000,000. */
  readonly maxSessionBytes?: number
}

/** The options with their defaults. `invalid`, with the name of the option, if one is unknown or has a wrong value. */
export function checkOptions(options: IndexedDbStorageOptions): Required<IndexedDbStorageOptions> {
  checkNames("createIndexedDbStorage", options, FIELDS)
  const [error, checked] = validate(options, type(FIELDS))
  if (error !== undefined) {
    throw new StorageError("invalid", messageOf(error.failures()[0] ?? error), { cause: error })
  }
  return {
    database: checked.database ?? "@sessions/idb",
    durability: checked.durability ?? "strict",
    maxBatchBytes: checked.maxBatchBytes ?? 50_000_000,
    maxSessionBytes: checked.maxSessionBytes ?? 200_000_000,
  }
}

const BYTES = define<number>("number from 2", (value) => typeof value === "number" && value >= 2)

const FIELDS = {
  database: optional(define<string>("string that is not empty", (value) => typeof value === "string" && value !== "")),
  durability: optional(
    define<"relaxed" | "strict">('"relaxed" or "strict"', (value) => value === "relaxed" || value === "strict"),
  ),
  maxBatchBytes: optional(BYTES),
  maxSessionBytes: optional(BYTES),
}

function messageOf({ key, message }: Pick<Failure, "key" | "message">): string {
  return `The option "${key}" of createIndexedDbStorage has a wrong value: ${message}.`
}
