/** The options of `createSessions`, and their defaults. */
import type { CompactionSettings } from "../compaction/types.ts"
import type { BlobLimits } from "../format/blobs.ts"
import { createIds } from "../format/ids.ts"
import type { SessionStorage } from "../storage/contract.ts"
import type { Hooks } from "./hooks.ts"
import type { OpeningOptions } from "./open.ts"
import { READ_WINDOW } from "../log/read-backwards.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { ConflictPolicy, PersistAfter } from "../write/types.ts"

export interface SessionsOptions {
  readonly storage: SessionStorage
  /** Several hooks run in this order. */
  readonly hooks?: Hooks | readonly Hooks[]
  /** When a new session is first written. Default `"create"`: before `create` resolves. */
  readonly persistAfter?: PersistAfter
  /** For appends outside of turns, and after the first append of a turn. Default `"branch"`. */
  readonly onConflict?: ConflictPolicy
  /** Whether the first write to a log of an older version migrates it. Default true. With false, such a write is `read_only`. */
  readonly migrateOnWrite?: boolean
  /** Whether session ids must be ULIDs. Default false. */
  readonly ulidsOnly?: boolean
  /** Largest log, in bytes. Default and maximum: the limit of the storage. */
  readonly maxSessionBytes?: number
  /** What moves to the blob store; see `docs/format.md`. */
  readonly blobs?: BlobLimits
  /**
   * Strings that are too long for a line: `"blobs"` (default) moves them to the blob store; `"truncate"` shortens them, except for
   * images and content that a provider has signed. See `docs/format.md`, "Outside the line".
   */
  readonly oversize?: "blobs" | "truncate"
  /** Compaction settings; `create`, `open` and single calls override each of them. */
  readonly compaction?: CompactionSettings
  /** The windows in which a log is read from its end backwards, in UTF-8 bytes; default 98,304, doubling to 16,777,216. */
  readonly readWindow?: ReadWindow
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
  /** Called when a hook of the repository throws. */
  readonly onHookFailed?: (hook: string, error: unknown) => void
}

/** The options with all defaults applied. */
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
