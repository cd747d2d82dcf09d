/** The public interface of a repository: `Sessions`, with its options and results. `docs/` has examples. */
import type { BlobLimits } from "../format/blobs.ts"
import type { Extensions } from "../format/names.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { ParentSession } from "../format/header.ts"
import type { CollectedBlobs, CollectOptions } from "../storage/collect.ts"
import type { CallOptions, Deleted, SessionStorage, Swept } from "../storage/contract.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { ConflictPolicy } from "../write/types.ts"
import type { Hooks } from "./hooks.ts"
import type { AnyMetadata, SessionInfo } from "../info/projection.ts"
import type { SessionContext } from "../context/types.ts"
import type { Compaction } from "./compaction.ts"
import type { ContextOptions, Session } from "./types.ts"
import type {
  CopyOptions,
  ExportOptions,
  ImportOptions,
  ImportResult,
  ImportSource,
  MergeResult,
  PrunedSessions,
  VerifyReport,
} from "./transfer-types.ts"

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
  /** Of the session. It is not reserved: the message that creates the session is rejected with `exists` if another one has it by then. */
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

export interface Pointer {
  readonly session: string
  readonly cwd?: string
}

export interface Pointers {
  set(name: string, pointer: Pointer, o?: CallOptions): Promise<void>
  get(name: string, o?: CallOptions): Promise<Pointer | undefined>
  delete(name: string, o?: CallOptions): Promise<void>
}

export interface SessionsOptions {
  readonly storage: SessionStorage
  /** Several hooks run in this order. */
  readonly hooks?: Hooks | readonly Hooks[]
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
   * Blobs are left to {@link collect}, and `purged` does not speak of them. `blobs: "now"` reads all logs and documents and removes those
   * that only this session mentioned. One that was put within the last two hours stays for the next call or for `collect`, because the
   * put may be that of another writer, which mentions it later; `purged` is false until it is gone. If the log cannot be read or is gone
   * already, each blob that nothing mentions counts as the session's. Rejects like `collectBlobs` if another session cannot be read,
   * and then nothing is deleted.
   */
  delete(id: string, o?: CallOptions & { readonly blobs?: "now" | "collect" }): Promise<Deleted>
  /** Creates a session with the path to `at` (default: the leaf) and its annotations, across compactions. `not_found`, `exists`. */
  fork(id: string, o?: OpenOptions & { readonly at?: string; readonly id?: string }): Promise<Session<Own, Metadata>>
  /**
   * Opens the session of the pointer if it exists and was set for this cwd, else the newest session of the cwd that a person works in,
   * else creates one; with `create: false` it rejects with `not_found` instead, and without a cwd it looks in all folders. A person does
   * not work in sessions with a kind, of `source: "cron"`, or without a message other than synthetic ones.
   */
  continueRecent(
    o: OpenOptions &
      (
        | { readonly cwd: string; readonly pointer?: string; readonly create?: boolean }
        | { readonly cwd?: undefined; readonly pointer?: undefined; readonly create: false }
      ),
  ): Promise<Session<Own, Metadata>>
  readonly pointers: Pointers
  import(source: ImportSource, o?: ImportOptions): Promise<ImportResult>
  /** The log byte for byte, or self-contained, or as Markdown. `not_found` if there is no such session. */
  export(id: string, o?: ExportOptions): AsyncIterable<string>
  /** Copies a session with its blobs to another storage, under the same id. The same call completes an interrupted copy. */
  copy(id: string, to: SessionStorage, o?: CopyOptions): Promise<ImportResult>
  /**
   * Brings the logs of a session here and in another storage to the same set of entries, the same leaf and the same annotations, with their
   * blobs. A session that is missing there is copied. Waits for a turn that runs here. The same call completes an interrupted merge.
   *
   * `not_found` if the session is missing here, or was merged with that storage before and is missing there now; `exists` if that storage
   * has another session under the id; `corrupt` if a log repeats an id or lacks a parent; `too_large`; `read_only` for a log of an older
   * version that cannot be migrated; `conflict` if other writers keep appending. Before anything is written, except for the last.
   */
  merge(id: string, other: SessionStorage, o?: CallOptions): Promise<MergeResult>
  /** Replaces a log of an older version by version 4 in one step, and keeps a backup. Leaves a current log unchanged. */
  migrate(
    id: string,
    o?: CallOptions,
  ): Promise<{ readonly migrated: boolean; readonly from: { format: string; version: number } }>
  /**
   * Deletes the sessions whose last message is more than `olderThan` milliseconds ago, the oldest first: of one `cwd` or `source`, or all.
   * A session that is open or that changes meanwhile stays, as `skipped` says; what a writer appends is never deleted by a call that has
   * not seen it. A session that is open in another process and does not write is deleted: its next append is `not_found`.
   *
   * `unsupported` if the storage cannot delete under a condition ({@link SessionStorage}, `deleteIf`). Rejects if the storage as a whole
   * does not answer; what was deleted until then stays deleted, and the same call goes on. Blobs are left to {@link collect}.
   */
  prune(
    o: CallOptions & {
      readonly olderThan: number
      readonly cwd?: string
      readonly source?: "interactive" | "cron"
      /** Deletes nothing, and returns what it would delete. Default false. */
      readonly dryRun?: boolean
    },
  ): Promise<PrunedSessions>
  /**
   * Removes from the storage what nothing refers to: blobs that no log and no document mentions, and (`swept`) what deletions,
   * replacements and interrupted writes left. Safe beside writers, and may be interrupted anywhere.
   *
   * `olderThan`: see `collectBlobs`; at least 7,200,000, 2 hours, because a writer puts the blobs of a line again only if more than one hour
   * has passed since it put them. Rejects like `collectBlobs` if a session cannot be read; the rest is swept by then.
   */
  collect(o?: CollectOptions): Promise<CollectedBlobs & { readonly swept: Swept }>
  /** Reads the whole log and reports every defect. `not_found`, `not_a_session`. */
  verify(id: string, o?: CallOptions): Promise<VerifyReport>
  /** Closes every open session and the storage. */
  close(): Promise<void>
}

/** The calls whose code is loaded on first use. */
export type TransferCalls = Pick<
  Sessions,
  | "fork"
  | "continueRecent"
  | "pointers"
  | "import"
  | "export"
  | "copy"
  | "merge"
  | "migrate"
  | "prune"
  | "collect"
  | "verify"
>

/** With `delete`, which is called there for `blobs: "now"`. */
export type LoadedCalls = TransferCalls & Pick<Sessions, "delete">
