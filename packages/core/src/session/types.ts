/** The public interface: `Sessions` (a repository) and `Session`, with their options and results. `docs/` has examples. */
import type { PruneOptions } from "../context/prune/settings.ts"
import type { RepairMode, SessionContext, SummaryStyle } from "../context/types.ts"
import type { BlobLimits } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Extensions } from "../format/names.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { ContentBlock, Message, Usage } from "../format/message.ts"
import type { Entry, AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { Header, ParentSession } from "../format/header.ts"
import type { CallOptions, Deleted, Head, PartInfo, Seq, SessionStorage } from "../storage/contract.ts"
import type { Branch } from "../log/branches.ts"
import type { TreeNode } from "../log/nodes.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { AppendOptions, AppendResult, ConflictPolicy, EntryOptions, PersistAfter } from "../write/types.ts"
import type { SessionEvents } from "./events.ts"
import type { Hooks } from "./hooks.ts"
import type { AnyMetadata, SessionInfo } from "../info/projection.ts"
import type {
  CompactionSettings,
  AutoCompactOptions,
  BranchSummaryOptions,
  CompactionResult,
  CompactionStatus,
  CompactOptions,
} from "../compaction/types.ts"

export interface OpenOptions extends CallOptions {
  /** Settings for this handle; each overrides the repository's. Not stored in the log. */
  readonly compaction?: CompactionSettings
}

/**
 * A new session. The fields are stored in the header of its log; `metadata` and `entries` are its first entries, `compaction` and `signal`
 * are not stored.
 *
 * The header and the first entries are one batch: after a crash the session has all of them, or does not exist. `too_large` if the storage
 * does not take them in one batch; append the rest later. With a {@link PersistAfter} other than `"create"` they wait in memory like
 * appends, for the first message that it names.
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

export interface ContextOptions extends CallOptions {
  /** Context window of the model, in tokens. Default: none, and the result has no `fits`. */
  readonly window?: number
  /** Default `"synthesize"`. */
  readonly repair?: RepairMode
  /**
   * Shortens old tool results, in this result only; `true` uses every default. Sizes are shares of `window`, else of the window in the
   * compaction settings; `invalid` without both. Default: as in the compaction settings, else false.
   */
  readonly prune?: boolean | PruneOptions
  readonly summaryAs?: SummaryStyle
}

export interface MessagesOptions extends CallOptions {
  /** `before` of a page, or an entry id: only what is before it on the path. Default: from the leaf. */
  readonly before?: string
  /** 1-1000, default 50. */
  readonly limit?: number
}

export interface HistoryMessage {
  readonly entryId: string
  readonly seq: Seq
  readonly timestamp: string
  readonly message: Message
}

export interface MessagesPage {
  /** Oldest first. */
  readonly messages: readonly HistoryMessage[]
  /** Pass it as `before` to get the page with older messages; undefined on the oldest page. */
  readonly before?: string
}

export interface PathOptions extends MessagesOptions {
  /** Only entries of these types; default: all. An empty list is `invalid`. */
  readonly types?: readonly string[]
}

export interface PathPage<Own extends OwnEntry = AnyOwnEntry> {
  /** In path order: parents before children. */
  readonly entries: readonly Entry<Own>[]
  /** Pass it as `before` to get the page before this one; undefined on the page that begins the path. */
  readonly before?: string
}

export interface SessionTree<Own extends OwnEntry = AnyOwnEntry> {
  readonly roots: readonly TreeNode<Own>[]
  readonly leafId: string | null
  /** Ids from the root to the leaf. */
  readonly path: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface TurnContext {
  /** 0 for the first run of the function; increases each time it runs again because another writer appended first. */
  readonly attempt: number
}

/** One stored part of the log of a session. */
export interface SessionPart extends PartInfo {
  /** Counts from 1. */
  readonly number: number
  /** Lines in this part; the first part includes the header. */
  readonly count: number
}

/**
 * A handle on an open session. Handles of one repository on the same id share their state; each has its own `close`.
 *
 * A method that appends changes the state in memory before it returns its promise, and the promise resolves when the storage has
 * acknowledged the append; while {@link PersistAfter} keeps a new session in memory, it resolves without a write. If a method refers
 * to an entry that is not in memory (`branch`, `label`, …), the state changes once the entry was read. A rejected append is removed
 * from memory, with all appends queued behind it (`rolled_back`). After `indeterminate` it stays in memory, and the next append
 * resolves its outcome. A crash loses only entries that the storage has not acknowledged.
 */
export interface Session<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>
  extends AsyncDisposable {
  readonly id: string
  readonly header: Header
  /** Parent of the next entry; null before the first entry and after `resetLeaf`, which annotations do not change. */
  readonly leafId: string | null
  /** The acknowledged end of the log; undefined before the first write. */
  readonly head: Head | undefined
  /** Diagnostics of the opening, and the latest diagnostic of each code since. */
  readonly diagnostics: readonly Diagnostic[]

  /** Appends entries behind the leaf, or with `at` behind another entry, in one batch. */
  append(entries: NewEntry<Own> | readonly NewEntry<Own>[], o?: AppendOptions): Promise<AppendResult>

  /**
   * Runs one agent turn, after all earlier turns have ended. If another writer appends before the first append of the turn, nothing of
   * the turn is written and `fn` runs again on the new leaf: up to three more times, then `conflict`. A turn inside a turn of the same
   * session is `invalid`.
   *
   * With `summarize` in its compaction settings, the session is compacted if due, as by {@link autoCompact}: before `fn`, and after it
   * unless it has thrown. The promise resolves after that.
   */
  turn<T>(fn: (session: Session<Own, Metadata>, turn: TurnContext) => Promise<T> | T, o?: CallOptions): Promise<T>

  /**
   * The context for a model. Reads the log backwards only as far as the context reaches. Its diagnostics are those of its messages, and
   * `diverged` while the log has open branches.
   */
  context(o?: ContextOptions): Promise<SessionContext>
  /** A page of the messages on the current path, compacted ones included, deleted ones not. The first page has the newest. */
  messages(o?: MessagesOptions): Promise<MessagesPage>
  /**
   * A page of the entries on the current path, whatever their type, with their blobs inlined; deleted ones are left out. The first page
   * has the newest. Reads the log backwards only as far as the page reaches.
   */
  path(o?: PathOptions): Promise<PathPage<Own>>
  /** The entries of all branches in log order, with their blobs inlined. `from` is inclusive, `to` exclusive; default: all. */
  entries(range?: { readonly from?: Seq; readonly to?: Seq }, o?: CallOptions): AsyncIterable<Entry<Own>>
  /** One entry with its blobs inlined; undefined if the log has none with this id. A missing blob stays a reference and emits a `diagnostic` event. */
  entry(id: string, o?: CallOptions): Promise<Entry<Own> | undefined>
  /** Reads the whole log, but no blobs: large contents may be references, which {@link entry} resolves. */
  tree(o?: CallOptions): Promise<SessionTree<Own>>
  /**
   * The branches of the log, newest first, settled ones included. Reads the whole log, but no blobs. The open ones count as reported: see
   * {@link branch}.
   */
  branches(o?: CallOptions): Promise<readonly Branch[]>

  /**
   * Makes an earlier entry the leaf, and settles the branch that it leaves. If the entry is the end of a branch, the others that this
   * session has reported are settled too. `settles`: the ends of further branches to settle, by their ids. `not_found` if the log has
   * not all of these entries.
   */
  branch(id: string, o?: EntryOptions & { readonly settles?: readonly string[] }): Promise<AppendResult>
  /**
   * Settles the branches that end in these entries, and no others: they are no longer reported, until they are continued. The leaf stays.
   * `not_found` if the log has not all of these entries.
   */
  settle(ids: readonly string[], o?: EntryOptions): Promise<AppendResult>
  /** Sets the leaf to null, so that the next entry is a root. */
  resetLeaf(o?: EntryOptions): Promise<AppendResult>
  /**
   * Moves the leaf to `id` (null: before the first entry) with a summary of the abandoned branch: the given text, or the answer of
   * `summarize` on the entries that only that branch has, with their files in `details` (`readFiles`, `modifiedFiles`). Rejects with
   * `compaction_failed`, and writes nothing, if the answer is incomplete, if there is nothing to summarize, or if the session changed
   * meanwhile.
   */
  branchWithSummary(
    id: string | null,
    summary: string | BranchSummaryOptions,
    o?: EntryOptions & { readonly details?: unknown; readonly fromExtension?: boolean; readonly usage?: Usage },
  ): Promise<AppendResult>
  /** Sets the label of an entry; null removes it. */
  label(id: string, label: string | null, o?: EntryOptions): Promise<AppendResult>
  /** Soft delete: the entry stays in the log, and is left out of the context and of messages. */
  tombstone(id: string, o?: EntryOptions): Promise<AppendResult>
  /** Replaces the content of an entry in later contexts; null leaves the entry out. `invalid` for a compaction. */
  edit(
    id: string,
    replacement: null | { readonly content: string | readonly ContentBlock[] },
    o?: EntryOptions,
  ): Promise<AppendResult>
  /** Null clears the title. A title by the user (the default source) has priority over an automatic one. */
  title(title: string | null, o?: EntryOptions & { readonly source?: "user" | "auto" }): Promise<AppendResult>
  metadata<K extends keyof Metadata & string>(key: K, value: Metadata[K], o?: EntryOptions): Promise<AppendResult>

  /**
   * Summarizes the older part of the context and appends one `compaction` entry; nothing is removed from the log. Entries appended
   * meanwhile stay in the context. Also allowed within a turn. Rejects with `compaction_failed`, and writes nothing, if there is
   * nothing to summarize, if the summarizer fails or does not answer completely in time, if the context would not become shorter, if
   * the leaf moved to another branch meanwhile, or while another compaction of the session runs. Other errors: `invalid`, `aborted`,
   * `closed`, and those of the storage.
   */
  compact(o?: CompactOptions): Promise<CompactionResult>
  /**
   * Compacts if due, after the running turn has ended. Resolves with undefined if compaction is not due or not enabled, while the
   * breaker is open, and after a failure, which is reported as a `compact_failed` event and a diagnostic. Rejects only with `invalid`
   * (also within a turn), `aborted` and `closed`.
   */
  autoCompact(o?: AutoCompactOptions): Promise<CompactionResult | undefined>
  /** Shared by all handles of the repository on this session; not stored in the log. */
  readonly compactionStatus: CompactionStatus
  /** Closes the breaker after failures, so that automatic compaction runs again. */
  resetCompactionBreaker(): void

  /**
   * Takes over what other writers have appended up to the call, with the events `foreign` and `diverged`, as a conflicting append does:
   * the leaf moves on if they continued it, except inside a turn that has begun to write, which moves it at its end. Returns the end of
   * the log. Appends are not affected, but those whose outcome was `indeterminate` are tried again. `not_found` if the session was
   * deleted, or is not stored yet; `conflict` if the log is of another version and has changed (open it again); else the errors of the
   * storage.
   */
  refresh(o?: CallOptions): Promise<Head>
  /**
   * Refreshes the session whenever another writer has appended, until the signal fires or this handle is closed; then it resolves. The
   * storage's `watch` says when, else its head is asked for every 2 s. Outside a turn the next append therefore continues what another
   * writer has just said: use {@link turn} to keep a question and its answer together.
   *
   * While the storage is `unavailable`, the session has the diagnostic `not_followed`, and the storage is asked again after 2 s, then
   * after twice as long each time, up to 30 s. Rejects with `not_found` if the session is deleted, and with the other errors of
   * {@link refresh}. Calls on one session share one watch. It keeps a process alive until it ends, and no longer.
   */
  follow(o?: CallOptions): Promise<void>
  /** The session information, pending appends included. */
  info(o?: CallOptions): Promise<SessionInfo<Metadata>>
  /** Sizes of the stored parts of the log, in bytes. No parts before the first write. */
  parts(o?: CallOptions): Promise<{ readonly bytes: number; readonly parts: readonly SessionPart[] }>
  /**
   * Calls the listener for events of the session, whichever handle caused them, until the returned function is called or this handle is
   * closed. The appends that `close` waits for are still reported.
   */
  on<K extends keyof SessionEvents>(event: K, listener: (event: SessionEvents<Own>[K]) => void): () => void
  /** Resolves when all appends are acknowledged and, if the storage supports `sync`, on stable storage. */
  flush(o?: CallOptions): Promise<void>
  /**
   * Closes this handle; later calls reject with `closed`. The last handle on the session flushes it. A session that {@link PersistAfter}
   * still keeps in memory is dropped.
   */
  close(): Promise<void>
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
  /** Only sessions whose metadata has these keys with equal values; the order of keys inside a value does not count. Default: all. */
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
  /**
   * Entry types, roles and block types that `append` takes beside those of the format and those with a namespace (`acme:note`). Default:
   * none. An entry of such a type is part of the conversation, and so may branch it; one with a namespace is an annotation.
   */
  readonly extensions?: Extensions
  /** Compaction settings; `create`, `open` and single calls override each of them. */
  readonly compaction?: CompactionSettings
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
   * Deletes the log and everything else that belongs to the session, damaged or not; blobs are left to `collectBlobs`. `purged: false`
   * means that bytes are left although the session is deleted: call it again. `not_found` if there is no such session and nothing is left
   * of an earlier one; a call that finishes an interrupted deletion may answer so.
   */
  delete(id: string, o?: CallOptions): Promise<Deleted>
  /** Creates a session with the path to `at` (default: the leaf) and its annotations, across compactions. `not_found`, `exists`. */
  fork(id: string, o?: OpenOptions & { readonly at?: string; readonly id?: string }): Promise<Session<Own, Metadata>>
  /**
   * Opens the session of the pointer if it exists and was set for this cwd, else the newest session of the cwd that has no kind, else
   * creates one.
   */
  continueRecent(o: OpenOptions & { readonly cwd: string; readonly pointer?: string }): Promise<Session<Own, Metadata>>
  readonly pointers: Pointers
  import(source: ImportSource, o?: ImportOptions): Promise<ImportResult>
  /** The log byte for byte, or self-contained, or as Markdown. `not_found` if there is no such session. */
  export(id: string, o?: ExportOptions): AsyncIterable<string>
  /** Copies a session with its blobs to another storage, under the same id. The same call completes an interrupted copy. */
  copy(id: string, to: SessionStorage, o?: CopyOptions): Promise<ImportResult>
  /** Replaces a log of an older version by version 4 in one step, and keeps a backup. Leaves a current log unchanged. */
  migrate(
    id: string,
    o?: CallOptions,
  ): Promise<{ readonly migrated: boolean; readonly from: { format: string; version: number } }>
  /** Reads the whole log and reports every defect. `not_found`, `not_a_session`. */
  verify(id: string, o?: CallOptions): Promise<VerifyReport>
  /** Closes every open session and the storage. */
  close(): Promise<void>
}

/** Text or bytes of one session file. A function is called for each of two readings, so that a large file is not kept in memory. */
export type ImportSource =
  | string
  | Uint8Array
  | AsyncIterable<Uint8Array | string>
  | (() => AsyncIterable<Uint8Array | string>)

/** `"auto"` detects the format of the file. With another value, a file in a different format is `not_a_session`. */
export type ImportFormat = "auto" | "sessions" | "pi" | "oh-my-pi"

/**
 * Reads sessions of a format that this package does not know. It converts them to records of version 4 as `docs/format.md` describes them;
 * `import` writes these, with its limits, hooks and blobs. Its errors reject the import unchanged.
 */
export interface Importer {
  /** The name of the format, as in `origin.format` of the header. */
  readonly format: string
  /** Whether a file is of this format. `start`: its text up to 65,536 UTF-16 units. If not, `import` rejects with `not_a_session`. */
  identify(start: string): boolean
  /**
   * Reads one session: yields its header, then its entries in log order, each after its parent. `main` is the text of the file in pieces of
   * any size, without a BOM; `beside` reads a file next to it, such as a further part or metadata, and is undefined for one that is not
   * there. `note` adds a diagnostic to the result.
   *
   * Called several times for one import, which reads the beginning, then measures the log, then writes it. Each call must yield equal
   * records and must not change one that it has yielded: ids that the format does not have must follow from the file (`ulidAt` of `/format`).
   *
   * The header must have `origin` with this format and the version of the file. `import` sets its `id`, `origin.lines` and, unless given,
   * `origin.settled`: what the file has on other branches was left knowingly. Give 0 if the importer writes `leaf` entries with `settles`.
   * `import` also sets the `seq` of each entry, and moves large texts and images to the blob store.
   */
  read(
    source: {
      readonly main: AsyncIterable<string>
      readonly beside: (name: string) => AsyncIterable<Uint8Array> | undefined
    },
    o: CallOptions & { readonly note: (diagnostic: Diagnostic) => void },
  ): AsyncIterable<Header | Entry>
}

export interface CopyOptions extends CallOptions {
  /** Called after each batch, with the lines and bytes stored so far. */
  readonly onProgress?: (progress: { readonly lines: number; readonly bytes: number }) => void
}

export interface ImportOptions extends CopyOptions {
  /** Default: a new ULID. */
  readonly id?: string
  /** The format of the file, or the importer that reads it. Default `"auto"`. */
  readonly from?: ImportFormat | Importer
  /**
   * The files next to the imported one, for an {@link Importer}; undefined for a name that is not there. Called for each reading of the
   * session. Names come from the importer, which may have found them in the file: do not follow them out of the folder. `invalid` without
   * an importer.
   */
  readonly beside?: (name: string) => AsyncIterable<Uint8Array> | undefined
  /**
   * Hashes of the blobs that came with the file; put them into `storage.blobs` first. Every other reference is replaced as that of a
   * missing blob, and reported as `missing_blob`: all sessions of a storage share its blobs, so a file could show another session's
   * content by naming its hash. `"any"`, for files that you trust, keeps every reference. Default: none. Content inside the file, as in
   * a self-contained export, needs no hash.
   */
  readonly blobs?: readonly string[] | ReadonlySet<string> | "any"
}

export interface ImportResult {
  readonly id: string
  /** Lines of the log, header included. */
  readonly lines: number
  readonly from: { readonly format: string; readonly version: number }
  readonly diagnostics: readonly Diagnostic[]
}

export interface ExportOptions extends CallOptions {
  /** Default `"jsonl"`: the stored lines. */
  readonly format?: "jsonl" | "markdown"
  /** With `"jsonl"`: inlines the blobs, so that one file holds the whole session. */
  readonly selfContained?: boolean
  /** The log as it was before its migration. `not_found` without a migration. */
  readonly backup?: boolean
}

export interface VerifyReport {
  readonly id: string
  readonly lines: number
  readonly bytes: number
  readonly diagnostics: readonly Diagnostic[]
  /** Stored data is missing or invalid. False for diagnostics about the origin of the log (`diverged`, `repaired`, `left_out`, …). */
  readonly damaged: boolean
}
