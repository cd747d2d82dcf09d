/** The public interface of a repository: `Sessions`, with its options and results. `docs/` has examples. */
import type { BlobLimits } from "../format/blobs.ts"
import type { Extensions } from "../format/names.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { ParentSession } from "../format/header.ts"
import type { CallOptions, Deleted, SessionStorage } from "../storage/contract.ts"
import type { LogReader } from "../log/log-reader.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { ConflictPolicy } from "../write/types.ts"
import type { Hooks } from "./hooks.ts"
import type { AnyMetadata, SessionInfo } from "../info/projection.ts"
import type { SessionContext } from "../context/types.ts"
import type { Compaction } from "./compaction.ts"
import type { ContextOptions, Session } from "./types.ts"

export interface OpenOptions extends CallOptions {
  /** Made by `automaticCompaction` of `@sessions/core/compaction`, for this handle; each setting overrides the repository's. Not stored in the log. */
  readonly compaction?: Compaction
}

/**
 * A new session. The fields are stored in the header of its log; `metadata` and `entries` are its first entries, `compaction` and `signal`
 * are not stored.
 *
 * The header and the first entries are one batch: after a crash the session has all of them, or does not exist. `too_large` if the storage
 * does not take them in one batch; append the rest later.
 */
export interface CreateOptions<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>
  extends OpenOptions {
  /** Default: a new ULID. `exists` if it is taken. */
  readonly id?: string
  readonly cwd?: string
  readonly title?: string
  readonly source?: "interactive" | "cron"
  /**
   * Which program's sessions this is one of, e.g. `langgraph`; lists can be limited to one kind. `continueRecent` ignores sessions with a
   * kind. Default: none, a session that a person works in.
   */
  readonly kind?: string
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
  /** One `metadata` entry for each key. */
  readonly metadata?: Readonly<Partial<Metadata>>
  /** Appended after the metadata, as by `append`. */
  readonly entries?: readonly NewEntry<Own>[]
}

/** A draft takes its entries by {@link Draft.append}. */
export interface DraftOptions<Metadata extends object = AnyMetadata>
  extends Omit<CreateOptions<AnyOwnEntry, Metadata>, "entries"> {
  /**
   * Which message creates the session: the first one of the user or the assistant (`"user"`, the default), or the first one of the
   * assistant, up to which a crash loses what the user said.
   */
  readonly until?: "user" | "assistant"
}

/**
 * A session that is stored with its first message: until then its entries are in memory, and nothing is written. They have the ids, times and
 * parents that they will be stored with. A draft that nobody goes on with need not be closed.
 */
export interface Draft<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata> {
  /** Id of the session. It is not reserved: the message that creates the session is rejected with `exists` if another one has it by then. */
  readonly id: string
  /**
   * Keeps the entries, which gives undefined; or creates the session, if one of them is the message that {@link DraftOptions.until} names:
   * the header, what was kept, and these are one batch. A later call appends to the session.
   *
   * If it rejects, these entries are not kept, and the others are. After `indeterminate` all are kept, and the next call finds out whether
   * the session was created. `too_large` if the storage does not take all of the draft in one batch.
   */
  append(
    entries: NewEntry<Own> | readonly NewEntry<Own>[],
    o?: CallOptions,
  ): Promise<Session<Own, Metadata> | undefined>
  /** The context for a model, as of the session. */
  context(o?: ContextOptions): Promise<SessionContext>
}

/**
 * Which sessions to list: those that match every given option. A page is full unless it is the last one, however many sessions do not
 * match. Filters do not separate tenants, because a program that forgets one lists all sessions: give each tenant a storage of its own.
 */
export interface ListOptions<Metadata extends object = AnyMetadata> extends CallOptions {
  /** 1-200, default 50; anything else is `invalid`. */
  readonly limit?: number
  /** `next` of the previous page. It is a position in the order of all sessions, so it is valid with any filters. */
  readonly cursor?: string
  /** Only sessions whose id starts with this. Default: all. */
  readonly idPrefix?: string
  /** Only sessions of this kind; null: only those without a kind. Default: all. */
  readonly kind?: string | null
  /**
   * Only sessions whose metadata has these keys with equal values; the order of keys inside a value does not count. Default: all. As every
   * filter, it is answered from what is kept beside the logs; a log is read only if its information is not current.
   */
  readonly metadata?: Readonly<Partial<Metadata>>
  /** Only sessions with exactly this cwd. Default: all. */
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  /** Only sessions with this parent session. */
  readonly parent?: string
}

export interface SessionPage<Metadata extends object = AnyMetadata> {
  readonly sessions: readonly SessionInfo<Metadata>[]
  readonly next?: string
  /**
   * Logs that are not sessions or could not be read, found while this page was computed; they are not changed. A log that is
   * `unavailable` is listed here if the storage answers other calls; otherwise `list` rejects.
   *
   * A list reads what is stored beside the logs, and seldom a log: damage inside one, such as a byte that is not UTF-8, is found by the
   * calls that read that place. `verify` reads all of it.
   */
  readonly unreadable: readonly { readonly id: string; readonly error: unknown }[]
}

export interface SessionsOptions {
  readonly storage: SessionStorage
  /** Several hooks run in this order. */
  readonly hooks?: Hooks | readonly Hooks[]
  /** For appends outside of turns, and after the first append of a turn. Default `"branch"`. */
  readonly onConflict?: ConflictPolicy
  /** Readers of logs of older versions: `[piLogs]` of `@sessions/core/migrations`. Default: none; opening such a log is `older_version`. */
  readonly readers?: readonly LogReader[]
  /** Whether the first write to a log of an older version migrates it. Default true. With false, such a write is `read_only`. */
  readonly migrateOnWrite?: boolean
  /** Whether session ids must be ULIDs. Default false. */
  readonly ulidsOnly?: boolean
  /** Largest log, in bytes. Default and maximum: the limit of the storage. */
  readonly maxSessionBytes?: number
  /** Sizes from which content moves to the blob store; see `docs/format.md`. */
  readonly blobs?: BlobLimits
  /**
   * Strings that are too long for a line: `"blobs"` (default) moves them to the blob store; `"truncate"` shortens them, except for
   * images and content that a provider has signed. See `docs/format.md`, "Outside the line".
   */
  readonly oversize?: "blobs" | "truncate"
  /**
   * Entry types, roles and block types that `append` takes beside those of the format and those with a namespace (`acme:note`). Default:
   * none. An entry of such a type is part of the conversation, and so may branch it; one with a namespace is an annotation.
   */
  readonly extensions?: Extensions
  /** Made by `automaticCompaction` of `@sessions/core/compaction`; `create`, `open` and single calls override each of its settings. */
  readonly compaction?: Compaction
  /** The windows in which a log is read from its end backwards, in UTF-8 bytes; default 98,304, doubling to 16,777,216. */
  readonly readWindow?: ReadWindow
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
  /** Called when a hook of the repository throws. */
  readonly onHookFailed?: (hook: string, error: unknown) => void
}

/**
 * The sessions of one storage. `Own` and `Metadata` are the entry types and the metadata of the application, for the compiler alone: what is
 * read from a log is not checked against them. Default: entries of any name with a namespace, and any metadata.
 */
export interface Sessions<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>
  extends AsyncDisposable {
  readonly storage: SessionStorage
  create(o?: CreateOptions<Own, Metadata>): Promise<Session<Own, Metadata>>
  /** A new session that is not stored before its first message, so that one in which nobody speaks leaves nothing. */
  draft(o?: DraftOptions<Metadata>): Promise<Draft<Own, Metadata>>
  /** `not_found` if there is no such session; `not_a_session` if the log is not a session. */
  open(id: string, o?: OpenOptions): Promise<Session<Own, Metadata>>
  /**
   * Opens the session, or creates it; only a session that it creates gets the given fields and entries. If two callers create it at once,
   * one creates it and the other opens it. If others delete it meanwhile, it is created.
   */
  openOrCreate(id: string, o?: Omit<CreateOptions<Own, Metadata>, "id">): Promise<Session<Own, Metadata>>
  info(id: string, o?: CallOptions): Promise<SessionInfo<Metadata>>
  /**
   * Sorted by `lastMessageAt`, newest first, then by id. Across pages, each session is listed once, even if its title or metadata
   * change meanwhile. A session that gets a message meanwhile moves to the front, so it may appear only in a listing from the start.
   */
  list(o?: ListOptions<Metadata>): Promise<SessionPage<Metadata>>
  rename(id: string, title: string | null, o?: CallOptions): Promise<void>
  /** Changes the `cwd` by a metadata entry, which overrides the header. */
  move(id: string, o: CallOptions & { readonly cwd: string }): Promise<void>
  /**
   * Deletes the log and everything else that belongs to the session, damaged or not. `purged: false` means that bytes are left although
   * the session is deleted: call it again. `not_found` if there is no such session and nothing is left of an earlier one; a call that
   * finishes an interrupted deletion may answer so.
   *
   * Blobs are left to `collect` of `@sessions/core/transfer`, and `purged` does not speak of them; `deleteWithBlobs` removes those that are older than two hours.
   */
  delete(id: string, o?: CallOptions): Promise<Deleted>
  /** Closes every open session and the storage. */
  close(): Promise<void>
}
