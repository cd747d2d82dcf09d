/** The face: what a user of the library calls. `docs/` explains it by example; each method says what it guarantees. */
import type { PruneOptions } from "../context/prune/settings.ts"
import type { RepairMode, SessionContext } from "../context/types.ts"
import type { SummaryStyle } from "../context/summary.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { ContentBlock, Message, Usage } from "../format/messages.ts"
import type { Entry, Header, ParentSession } from "../format/records.ts"
import type { CallOptions, Deleted, Head, PartInfo, Seq, SessionStorage } from "../storage/contract.ts"
import type { TreeNode } from "../log/nodes.ts"
import type { AppendOptions, AppendResult } from "../write/types.ts"
import type { SessionEvents } from "./events.ts"
import type { SessionInfo } from "../info/projection.ts"
import type {
  CompactionSettings,
  AutoCompactOptions,
  BranchSummaryOptions,
  CompactionResult,
  CompactionStatus,
  CompactOptions,
} from "../compaction/types.ts"

export interface OpenOptions extends CallOptions {
  /** For what is done through this handle; overrides the repository's, setting by setting. Not kept in the log. */
  readonly compaction?: CompactionSettings
}

/** What a session is made with; all of it but the settings of its handle goes into the log's header. */
export interface CreateOptions extends OpenOptions {
  /** Default: a new ULID. One that is taken is `exists`. */
  readonly id?: string
  readonly cwd?: string
  readonly title?: string
  readonly source?: "interactive" | "cron"
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
}

export interface ContextOptions extends CallOptions {
  /** Tokens that the context should fit; gives `fits`. */
  readonly window?: number
  /** Default `"synthesize"`. */
  readonly repair?: RepairMode
  /**
   * Old tool results made shorter, in this view only; `true`: with every default. By shares of the `window`, else of the one that the
   * settings of compaction give; without either `invalid`. Default: as those settings have it, else false.
   */
  readonly prune?: boolean | PruneOptions
  readonly summaryAs?: SummaryStyle
}

export interface MessagesOptions extends CallOptions {
  /** Entry id: only messages before it on the path. */
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
  /** In the order of the conversation. */
  readonly messages: readonly HistoryMessage[]
  /** Give it as `before` to get the page before this one; missing at the beginning. */
  readonly before?: string
}

export interface SessionTree {
  readonly roots: readonly TreeNode[]
  readonly leafId: string | null
  /** Ids from the root to the leaf. */
  readonly path: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface TurnContext {
  /** 0 at first; counts how often another writer's turn made this one start over. */
  readonly attempt: number
}

/** One stored piece of a session's log. */
export interface SessionPart extends PartInfo {
  /** From 1 on. */
  readonly number: number
  /** Of its lines, the header among them. */
  readonly count: number
}

/**
 * One open session. Handles that a repository has on one id share one session behind them; each has its own `close`.
 *
 * What a method does is in memory when it returns its promise, and in the storage when the promise resolves; what is done to an
 * entry that lies further back in the log than is held (`branch`, `label`, …) is in memory once it was found. A rejected append
 * has left memory again, with everything that was queued behind it (`rolled_back`); only after `indeterminate` it stays, and the
 * next append finds out.
 */
export interface Session extends AsyncDisposable {
  readonly id: string
  readonly header: Header
  /** The entry that the next append hangs on; null before the first and after `resetLeaf`. */
  readonly leafId: string | null
  /** The acknowledged end of the log; undefined while nothing has been written. */
  readonly head: Head | undefined
  /** What opening found, and the last word on what has gone wrong beside the calls since. */
  readonly diagnostics: readonly Diagnostic[]

  append(entries: NewEntry | readonly NewEntry[], o?: AppendOptions): Promise<AppendResult>

  /**
   * Runs one agent turn; a second one waits for it. Where another writer's turn got in first, nothing of this one is written and
   * `fn` runs again on the new leaf, up to three times, then `conflict`. A turn inside a turn of the same session is `invalid`.
   *
   * With a `summarize` in its settings, the session is compacted when it is time, as by {@link autoCompact}: before `fn`, and after it
   * unless it has thrown. The promise resolves after that.
   */
  turn<T>(fn: (session: Session, turn: TurnContext) => Promise<T> | T, o?: CallOptions): Promise<T>

  /** What a model gets: reads back only as far as the live context reaches. */
  context(o?: ContextOptions): Promise<SessionContext>
  /** A page of the conversation's whole history on the current path, newest page first; deleted messages are left out. */
  messages(o?: MessagesOptions): Promise<MessagesPage>
  /** Every entry in log order, on every branch, with what lies in the blob store back in its place. */
  entries(range?: { readonly from?: Seq; readonly to?: Seq }, o?: CallOptions): AsyncIterable<Entry>
  /** One entry, wherever in the log it stands, whole. A blob that is missing leaves its reference, and a `diagnostic` event. */
  entry(id: string, o?: CallOptions): Promise<Entry | undefined>
  /** Reads the whole log, but nothing of the blob store: long contents may be references, and {@link entry} has them. */
  tree(o?: CallOptions): Promise<SessionTree>

  /** Makes an earlier entry the leaf. `not_found` where no entry has the id. */
  branch(id: string, o?: AppendOptions): Promise<AppendResult>
  /** The next entry will be a root. */
  resetLeaf(o?: AppendOptions): Promise<AppendResult>
  /**
   * Leaves the current branch for `id` (null: the beginning), with a summary of what was left: one that is given, or one that
   * `summarize` makes of the branch's own part, whose files then stand in the entry's `details` (`readFiles`, `modifiedFiles`).
   * `compaction_failed`, and nothing is written, where there is no whole answer, nothing to summarize, or the session went on meanwhile.
   */
  branchWithSummary(
    id: string | null,
    summary: string | BranchSummaryOptions,
    o?: AppendOptions & { readonly details?: unknown; readonly fromExtension?: boolean; readonly usage?: Usage },
  ): Promise<AppendResult>
  /** Names an entry; null takes the name away. */
  label(id: string, label: string | null, o?: AppendOptions): Promise<AppendResult>
  /** Soft delete: stays in the log, never shows again. */
  tombstone(id: string, o?: AppendOptions): Promise<AppendResult>
  /** Replaces an entry's content in the context from here on, or leaves it out (null). */
  edit(
    id: string,
    replacement: null | { readonly content: string | readonly ContentBlock[] },
    o?: AppendOptions,
  ): Promise<AppendResult>
  /** Null clears. A user's title wins over an automatic one. */
  title(title: string | null, o?: AppendOptions & { readonly source?: "user" | "auto" }): Promise<AppendResult>
  metadata(key: string, value: unknown, o?: AppendOptions): Promise<AppendResult>

  /**
   * Has what is old summarized and appends one `compaction`; the log only grows. What is appended meanwhile is kept. Also within a
   * turn. Rejects with `compaction_failed`, and nothing is written: where nothing can be cut, where the summarizer fails or gives no
   * whole answer in time, where the context would not become shorter, where the session moved on elsewhere meanwhile, or while
   * another compaction of it is under way. `invalid`, `aborted`, `closed`, and what the storage says.
   */
  compact(o?: CompactOptions): Promise<CompactionResult>
  /**
   * The same where it is time, once the running turn has ended. Undefined where it is not time, where it is not enabled, while the
   * breaker is open, and where it failed: of that a `compact_failed` and a diagnostic tell. Rejects with `invalid` (also within a
   * turn), `aborted` and `closed` only.
   */
  autoCompact(o?: AutoCompactOptions): Promise<CompactionResult | undefined>
  /** Shared by all handles that a repository has on this session; not kept in the log. */
  readonly compactionStatus: CompactionStatus
  /** After failures that opened the breaker: compacts by itself again. */
  resetCompactionBreaker(): void

  /** Of this session as it stands in memory. */
  info(o?: CallOptions): Promise<SessionInfo>
  /** What is stored, by the pieces it is stored in. Nothing before the session is written. */
  parts(o?: CallOptions): Promise<{ readonly bytes: number; readonly parts: readonly SessionPart[] }>
  on<K extends keyof SessionEvents>(event: K, listener: (event: SessionEvents[K]) => void): () => void
  /** Resolves when all that was appended is acknowledged and, where the storage can tell, on stable storage. */
  flush(o?: CallOptions): Promise<void>
  /** Flushes with the last handle, as `flush` does. What waits for {@link PersistAfter} is dropped. Every call after it is `closed`. */
  close(): Promise<void>
}

export interface ListOptions extends CallOptions {
  /** 1-200, default 50; anything else is `invalid`. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
  /** Compared as given. Without it: all. */
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  /** Only sessions whose parent session this is. */
  readonly parent?: string
}

export interface SessionPage {
  readonly sessions: readonly SessionInfo[]
  readonly next?: string
  /**
   * Logs of the storage that are no sessions, or could not be read: met on the way to this page, and left as they are. One that is
   * `unavailable` is among them where the storage answers otherwise; where it does not, the page rejects.
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

/** All sessions of one storage. */
export interface Sessions extends AsyncDisposable {
  readonly storage: SessionStorage
  create(o?: CreateOptions): Promise<Session>
  /** `not_found` where there is none; `not_a_session` where the log is something else. */
  open(id: string, o?: OpenOptions): Promise<Session>
  /** Resumes or starts; where two start at once, one does and the other resumes. */
  openOrCreate(id: string, o?: Omit<CreateOptions, "id">): Promise<Session>
  info(id: string, o?: CallOptions): Promise<SessionInfo>
  /**
   * By `lastMessageAt`, newest first, then by id. From page to page each session comes once, whatever is named or noted meanwhile;
   * one that is talked to meanwhile moves to the front, where a listing from the start finds it.
   */
  list(o?: ListOptions): Promise<SessionPage>
  rename(id: string, title: string | null, o?: CallOptions): Promise<void>
  /** A metadata entry that stands over the header's `cwd`. */
  move(id: string, o: CallOptions & { readonly cwd: string }): Promise<void>
  /** The log with everything that belongs to it. `not_found` where there is none. */
  delete(id: string, o?: CallOptions): Promise<Deleted>
  /** A new session with the path to `at` (default: the leaf), across compactions, with all that concerns that path. */
  fork(id: string, o?: OpenOptions & { readonly at?: string; readonly id?: string }): Promise<Session>
  /** The pointer's session if it is still there and was set for this cwd, else the newest of the cwd, else a new one. */
  continueRecent(o: OpenOptions & { readonly cwd: string; readonly pointer?: string }): Promise<Session>
  readonly pointers: Pointers
  import(source: ImportSource, o?: ImportOptions): Promise<ImportResult>
  /** The log as it is, byte for byte; or self-contained, or as Markdown for people. */
  export(id: string, o?: ExportOptions): AsyncIterable<string>
  /** Puts a session with its blobs into another storage under its own id. The same call again goes on where one was cut off. */
  copy(id: string, to: SessionStorage, o?: CopyOptions): Promise<ImportResult>
  /** Rewrites an older log as version 4 in one step and keeps a backup. Does nothing to one that is current. */
  migrate(
    id: string,
    o?: CallOptions,
  ): Promise<{ readonly migrated: boolean; readonly from: { format: string; version: number } }>
  /** Reads everything and says everything. */
  verify(id: string, o?: CallOptions): Promise<VerifyReport>
  /** Closes every open session and the storage. */
  close(): Promise<void>
}

/** Text or bytes of one session file; a function where they can be read twice, which saves keeping a large one in memory. */
export type ImportSource =
  | string
  | Uint8Array
  | AsyncIterable<Uint8Array | string>
  | (() => AsyncIterable<Uint8Array | string>)

/** `"auto"` looks at the file. Naming a format makes any other `not_a_session`. */
export type ImportFormat = "auto" | "sessions" | "pi" | "oh-my-pi"

export interface CopyOptions extends CallOptions {
  /** Told while it works, in lines written. */
  readonly onProgress?: (progress: { readonly lines: number; readonly bytes: number }) => void
}

export interface ImportOptions extends CopyOptions {
  /** Default: a new ULID. */
  readonly id?: string
  readonly from?: ImportFormat
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
  /** With `"jsonl"`: blobs put back in place, so that the one file is everything. */
  readonly selfContained?: boolean
  /** The log as it was before its migration. `not_found` where there was none. */
  readonly backup?: boolean
}

export interface VerifyReport {
  readonly id: string
  readonly lines: number
  readonly bytes: number
  readonly diagnostics: readonly Diagnostic[]
  /** Something stored is not whole: false for what only says how a log came about (`diverged`, `repaired`, `left_out`). */
  readonly damaged: boolean
}
