/** What a repository may be told, and what holds where it is told nothing. */
import type { CompactionSettings } from "../compaction/types.ts"
import type { BlobLimits } from "../format/blob-refs.ts"
import { createIds } from "../format/ids.ts"
import type { SessionStorage } from "../storage/contract.ts"
import type { Hooks } from "./hooks.ts"
import type { OpeningOptions } from "./open.ts"
import { READ_WINDOW } from "../log/read-backwards.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { ConflictPolicy, PersistAfter } from "../write/types.ts"

export interface SessionsOptions {
  readonly storage: SessionStorage
  /** One, or several in the order in which they run. */
  readonly hooks?: Hooks | readonly Hooks[]
  /** Default `"create"`: what `create` returned can be opened elsewhere. */
  readonly persistAfter?: PersistAfter
  /** For appends outside of turns and later in them; default `"branch"`. */
  readonly onConflict?: ConflictPolicy
  /** Whether the first write to an older log migrates it. Default true; false: such a log is `read_only`. */
  readonly migrateOnWrite?: boolean
  /** Whether callers' session ids must be ULIDs. Default false. */
  readonly ulidsOnly?: boolean
  /** Largest log, in bytes. Default, and at most: the storage's own limit. */
  readonly maxSessionBytes?: number
  /** What moves to the blob store; see `docs/format.md`. */
  readonly blobs?: BlobLimits
  /**
   * What becomes of strings that are too long for a line. `"blobs"` (default) loses nothing; `"truncate"` cuts what is appended, but
   * for images and what a provider has signed. See `docs/format.md`, "Outside the line".
   */
  readonly oversize?: "blobs" | "truncate"
  /** When sessions are compacted and what is kept; `create`, `open` and the calls override it, setting by setting. */
  readonly compaction?: CompactionSettings
  /** The windows in which a log is read from its end backwards, in UTF-8 bytes; default 98,304, doubling to 16,777,216. */
  readonly readWindow?: ReadWindow
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
  /** Told of a repository hook that threw. */
  readonly onHookFailed?: (hook: string, error: unknown) => void
}

/** The same, complete, as every session of the repository has them. */
export function toOpeningOptions(o: SessionsOptions): OpeningOptions {
  const now = o.now ?? Date.now
  return {
    hooks: o.hooks === undefined ? [] : Array.isArray(o.hooks) ? (o.hooks as readonly Hooks[]) : [o.hooks as Hooks],
    persistAfter: o.persistAfter ?? "create",
    onConflict: o.onConflict ?? "branch",
    migrateOnWrite: o.migrateOnWrite !== false,
    maxSessionBytes: Math.min(o.maxSessionBytes ?? Number.POSITIVE_INFINITY, o.storage.capabilities.maxSessionBytes),
    blobs: o.blobs ?? {},
    oversize: o.oversize ?? "blobs",
    readWindow: o.readWindow ?? READ_WINDOW,
    newId: createIds(now),
    now,
  }
}
