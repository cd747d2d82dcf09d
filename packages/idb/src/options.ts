/** The options of `createIndexedDbStorage`: their types, checks and defaults. */
import { StorageError } from "@sessions/core/storage"
import {
  type Describe,
  enums,
  type Failure,
  min,
  nonempty,
  number,
  object,
  optional,
  string,
  validate,
} from "superstruct"

export interface IndexedDbStorageOptions {
  /** The name of the database; default `"sessions"`. Storage objects of one origin with the same name share the same sessions. */
  readonly database?: string
  /**
   * What an acknowledged append survives. `"strict"` (default): a killed browser and a power failure, as far as the engine keeps its
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
  const [error, checked] = validate(withoutUndefined(options), OPTIONS)
  if (error !== undefined) {
    throw new StorageError("invalid", messageOf(error.failures()[0] ?? error), { cause: error })
  }
  return {
    database: checked.database ?? "sessions",
    durability: checked.durability ?? "strict",
    maxBatchBytes: checked.maxBatchBytes ?? 50_000_000,
    maxSessionBytes: checked.maxSessionBytes ?? 200_000_000,
  }
}

/** Mutable, and with `undefined`: superstruct's types support neither `readonly` nor exact optional properties. */
const OPTIONS: Describe<{
  database?: string | undefined
  durability?: "relaxed" | "strict" | undefined
  maxBatchBytes?: number | undefined
  maxSessionBytes?: number | undefined
}> = object({
  database: optional(nonempty(string())),
  durability: optional(enums(["relaxed", "strict"])),
  maxBatchBytes: optional(min(number(), 2)),
  maxSessionBytes: optional(min(number(), 2)),
})

/** An option that is undefined counts as missing, also an unknown one. */
function withoutUndefined(options: unknown): unknown {
  if (typeof options !== "object" || options === null) return options
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function messageOf({ key, type, message }: Pick<Failure, "key" | "type" | "message">): string {
  if (key === undefined) return `createIndexedDbStorage takes an object of options: ${message}.`
  if (type !== "never") return `The option "${key}" of createIndexedDbStorage has a wrong value: ${message}.`
  const names = Object.keys(OPTIONS.schema)
  const nearest = nearestName(String(key), names)
  const hint = nearest === undefined ? `Its options are ${names.join(", ")}.` : `Did you mean "${nearest}"?`
  return `createIndexedDbStorage has no option "${key}". ${hint}`
}

/** The name with the smallest edit distance, if no more than half of the letters differ. */
function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance)
  const [nearest] = ranked
  return nearest !== undefined && nearest.distance <= wrong.length / 2 ? nearest.name : undefined
}

/** Levenshtein distance: insertions, deletions and replacements of letters. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[b.length] ?? 0
}
