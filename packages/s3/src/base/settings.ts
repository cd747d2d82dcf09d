import { StorageError } from "@sessions/core/storage"

/** How large things are and how patient the adapter is. All sizes in bytes, all times in milliseconds. */
export interface S3Tuning {
  /**
   * Lines in the tail, which each append writes anew; default 393,216. A third of it stays when the older lines are sealed: what
   * a resume finds with its one GET.
   */
  readonly tailBytes?: number
  /** A sealed segment; default 262,144, at most two thirds of `tailBytes`. */
  readonly segmentBytes?: number
  /** What small segments are merged to; default 8,388,608. */
  readonly mergedBytes?: number
  /** Hex digits of the id's hash that stand before it in keys, 0 to 4; default 0. Decide before the first session: it is part of where they lie. */
  readonly shard?: number
  /** Memory for tails and segments that are likely to be asked for again; default 16,000,000. */
  readonly cacheBytes?: number
  /** What a long read holds at most of what is not yet asked for; default 16,777,216. */
  readonly readAheadBytes?: number
  /** How long a request may take without a byte; default 10,000. */
  readonly requestTimeout?: number
  /** How long a store that does not answer is asked again; default 20,000. */
  readonly patience?: number
  /**
   * How long a read below the end that `head` gave is answered from what `head` read; default 2,000. It may be of a log that
   * another process has deleted or replaced since. With 0 each read asks the store.
   */
  readonly freshFor?: number
  /** The longest line; default 49,999,999. */
  readonly maxLineBytes?: number
  /** Default 50,000,000. */
  readonly maxBatchBytes?: number
  /** Told to core, which holds to it; default 200,000,000. */
  readonly maxSessionBytes?: number
}

export interface Settings extends Required<S3Tuning> {
  /** Lines that stay in the tail when the older ones are sealed. */
  readonly keptBytes: number
}

/** Throws `invalid` where an option makes no sense, at once: a storage that was made works. */
export function toSettings(tuning: S3Tuning): Settings {
  const settings = { ...DEFAULTS, ...withoutUndefined(tuning) }
  for (const [name, value] of Object.entries(settings)) {
    const least = name === "shard" || name === "freshFor" || name === "cacheBytes" ? 0 : 1
    if (!Number.isSafeInteger(value) || value < least) throw invalid(`\`${name}\` must be a whole number from ${least}`)
  }
  if (settings.shard > 4) throw invalid("`shard` must be a whole number from 0 to 4")
  if (settings.segmentBytes > (settings.tailBytes * 2) / 3) {
    throw invalid("`segmentBytes` must be at most two thirds of `tailBytes`, which keeps the rest")
  }
  if (settings.mergedBytes < 2 * settings.segmentBytes) {
    throw invalid("`mergedBytes` must be at least twice `segmentBytes`")
  }
  return { ...settings, keptBytes: Math.floor(settings.tailBytes / 3) }
}

const DEFAULTS: Required<S3Tuning> = {
  tailBytes: 393_216,
  segmentBytes: 262_144,
  mergedBytes: 8_388_608,
  shard: 0,
  cacheBytes: 16_000_000,
  readAheadBytes: 16_777_216,
  requestTimeout: 10_000,
  patience: 20_000,
  freshFor: 2_000,
  maxLineBytes: 49_999_999,
  maxBatchBytes: 50_000_000,
  maxSessionBytes: 200_000_000,
}

function withoutUndefined(tuning: S3Tuning): Partial<Required<S3Tuning>> {
  const names = Object.keys(DEFAULTS) as (keyof S3Tuning)[]
  return Object.fromEntries(names.flatMap((name) => (tuning[name] === undefined ? [] : [[name, tuning[name]]])))
}

function invalid(what: string): StorageError {
  return new StorageError("invalid", `${what}.`, { storage: "s3" })
}
