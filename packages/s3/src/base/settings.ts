import { StorageError } from "@sessions/core/storage"

/** Object sizes, memory, timeouts and limits. All sizes in bytes, all times in milliseconds. */
export interface S3Tuning {
  /**
   * Lines in the tail, which every append rewrites; default 393,216. When older lines are sealed, at least a third of it stays:
   * a resume gets these lines with its single GET.
   */
  readonly tailBytes?: number
  /** A sealed segment; default 262,144, at most two thirds of `tailBytes`. */
  readonly segmentBytes?: number
  /** Small segments are merged up to this size; default 8,388,608, at least twice `segmentBytes`. */
  readonly mergedBytes?: number
  /**
   * Hex digits of the id's hash before the id in keys, 0 to 4; default 0. Decide before the first session: sessions are not found
   * under another value.
   */
  readonly shard?: number
  /** Memory for the tails and segment blocks used last; default 16,000,000. */
  readonly cacheBytes?: number
  /** Memory for the bytes that a long read fetches ahead of its consumer; default 16,777,216. */
  readonly readAheadBytes?: number
  /** Longest time that a request may take without receiving a byte, for each 262,144 bytes that it sends; default 10,000. */
  readonly requestTimeout?: number
  /** Longest time that the failing requests of a call are retried, all together; default 20,000. Progress starts it anew. */
  readonly patience?: number
  /**
   * For this long, a read below the end that `head` returned is answered from what `head` fetched; default 2,000. Within it a read
   * may show a log that another process has deleted or replaced. With 0 every read asks the store.
   */
  readonly freshFor?: number
  /**
   * How long the tombstones of deleted sessions, documents and blobs stay before `collect` removes them; default a day. A write that
   * arrives later than this may bring back what was deleted. S3 refuses requests that were signed more than 15 minutes before.
   */
  readonly keepTombstones?: number
  /** The longest line; default 49,999,999. */
  readonly maxLineBytes?: number
  /** The largest batch; default 50,000,000. */
  readonly maxBatchBytes?: number
  /** The largest session, enforced by `@sessions/core`; default 200,000,000. */
  readonly maxSessionBytes?: number
}

export interface Settings extends Required<S3Tuning> {
  /** Lines that stay in the tail when older ones are sealed. */
  readonly keptBytes: number
}

/** Fills in the defaults. Throws `invalid` for a value out of range. */
export function toSettings(tuning: S3Tuning): Settings {
  const settings = { ...DEFAULTS, ...withoutUndefined(tuning) }
  for (const [name, value] of Object.entries(settings)) {
    const least = name === "shard" || name === "freshFor" || name === "cacheBytes" ? 0 : 1
    if (!Number.isSafeInteger(value) || value < least)
      throw invalidError(`\`${name}\` must be a whole number from ${least}`)
  }
  if (settings.shard > 4) throw invalidError("`shard` must be a whole number from 0 to 4")
  if (settings.segmentBytes > (settings.tailBytes * 2) / 3) {
    throw invalidError("`segmentBytes` must be at most two thirds of `tailBytes`; a third stays in the tail")
  }
  if (settings.mergedBytes < 2 * settings.segmentBytes) {
    throw invalidError("`mergedBytes` must be at least twice `segmentBytes`")
  }
  return { ...settings, keptBytes: Math.floor(settings.tailBytes / 3) }
}

export const DEFAULTS: Required<S3Tuning> = {
  tailBytes: 393_216,
  segmentBytes: 262_144,
  mergedBytes: 8_388_608,
  shard: 0,
  cacheBytes: 16_000_000,
  readAheadBytes: 16_777_216,
  requestTimeout: 10_000,
  patience: 20_000,
  freshFor: 2_000,
  keepTombstones: 86_400_000,
  maxLineBytes: 49_999_999,
  maxBatchBytes: 50_000_000,
  maxSessionBytes: 200_000_000,
}

function withoutUndefined(tuning: S3Tuning): Partial<Required<S3Tuning>> {
  const names = Object.keys(DEFAULTS) as (keyof S3Tuning)[]
  return Object.fromEntries(names.flatMap((name) => (tuning[name] === undefined ? [] : [[name, tuning[name]]])))
}

function invalidError(what: string): StorageError {
  return new StorageError("invalid", `${what}.`, { storage: "s3" })
}
