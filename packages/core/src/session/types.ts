/** The public interface of an open session: `Session`, with its options and results. `docs/` has examples. */
import type { CallStates } from "../context/call-states.ts"
import type { Shortening } from "../context/shortening.ts"
import type { RepairMode, SessionContext, SummaryStyle } from "../context/types.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { ContentBlock, Message, Usage } from "../format/message.ts"
import type { Entry, AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { Header } from "../format/header.ts"
import type { CallOptions, Head, PartInfo, Seq } from "../storage/contract.ts"
import type { AppendOptions, AppendResult, EntryOptions } from "../write/types.ts"
import type { SessionEvents } from "./events.ts"
import type { AnyMetadata, SessionInfo } from "../info/projection.ts"

/** A summary of a branch, as its `branch_summary` entry has it. */
export interface BranchSummary {
  readonly text: string
  readonly details?: unknown
  /** An extension of the program has written it. */
  readonly fromExtension?: boolean
  /** Usage of the request for it. */
  readonly usage?: Usage
}

export interface ContextOptions extends CallOptions {
  /** Context window of the model, in tokens. Default: none, and the result has no `fits`. */
  readonly window?: number
  /** Default `"synthesize"`. */
  readonly repair?: RepairMode
  /**
   * Shortens old tool results, in this result only; made by `shorten()` of `@sessions/core/compaction`. Sizes are shares of `window`, else of
   * the window in the compaction settings; `invalid` without both. Default: as in the compaction settings, else false.
   */
  readonly shorten?: Shortening | false
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

export interface TurnContext {
  /** 0 for the first run of the function; increases each time it runs again because another writer appended first. */
  readonly attempt: number
  /** With a lease: its number, which grows with each turn. */
  readonly fence?: number
  /** With a lease: fires when it is lost, of `{ fence }` when a higher one was read, so that the function ends what it has begun outside. The reason is the error of the turn. */
  readonly signal?: AbortSignal
}

export interface TurnOptions extends CallOptions {
  /**
   * Milliseconds, from 1,000 to 3,600,000: the turn waits until no other turn with a lease runs on the session, in any process of the
   * storage. A turn whose process has ended is waited for this long after its last sign of life. Default: none; turns of other processes may run at once.
   *
   * `{ fence }`: the turn has the lease already, of a lock of your own, and this is its number there, which grows with each holder. The log then refuses what
   * holders with lower numbers have on their way or append later. If the log has such a fence or a higher one, the turn is not begun:
   * `conflict`, with the number in the `fence` of the error.
   */
  readonly lease?: number | { readonly fence: number }
  /**
   * While another turn has the lease, or runs in this repository: `"wait"` waits for its end, `"reject"` rejects with `conflict`. Default
   * `"wait"`. `invalid` without a lease.
   */
  readonly busy?: "wait" | "reject"
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
 * acknowledged the append. If a method refers to an entry that is not in memory (`branch`, `label`, …), the state changes once the
 * entry was read. A rejected append is removed from memory, with all appends queued behind it (`rolled_back`). After `indeterminate` it stays in memory, and the next append
 * resolves its outcome. A crash loses only entries that the storage has not acknowledged.
 */
export interface Session<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>
  extends AsyncDisposable {
  readonly id: string
  readonly header: Header
  /** Parent of the next entry; null before the first entry and after `resetLeaf`, which annotations do not change. */
  readonly leafId: string | null
  /** The acknowledged end of the log. */
  readonly head: Head
  /** Diagnostics of the opening, and the latest diagnostic of each code since. */
  readonly diagnostics: readonly Diagnostic[]

  /** Appends entries behind the leaf, or with `at` behind another entry, in one batch. */
  append(entries: NewEntry<Own> | readonly NewEntry<Own>[], o?: AppendOptions): Promise<AppendResult>

  /**
   * Runs one agent turn, after all earlier turns of this repository on the session have ended; with `lease` also those of all other processes. If another writer appends before the first append of the turn, nothing of
   * the turn is written and `fn` runs again on the new leaf: up to three more times, then `conflict`. A turn inside a turn of the same
   * session is `invalid`.
   *
   * With `lease`, the turn has read all that earlier ones have appended, and nothing of an earlier turn is appended from then on, whatever it has in
   * flight. If the turn loses the lease, because its process stood still or did not reach the storage for that long, its appends and the call reject
   * with `conflict`; what it had appended stays. After a crash the next turn waits for one lease. The `signal` ends the waiting.
   *
   * With `automaticCompaction` of `@sessions/core/compaction`, the session is compacted if due: before `fn`, and after it unless it has
   * thrown. The promise resolves after that.
   */
  turn<T>(fn: (session: Session<Own, Metadata>, turn: TurnContext) => Promise<T> | T, o?: TurnOptions): Promise<T>

  /**
   * The context for a model. Reads the log backwards only as far as the context reaches. Its diagnostics are those of its messages, and
   * `diverged` while the log has open branches.
   */
  context(o?: ContextOptions): Promise<SessionContext>
  /**
   * A page of the messages on the current path as they were appended: compacted ones included, deleted ones not, and without the changes of
   * {@link edit}, which are for contexts. The first page has the newest.
   */
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

  /**
   * Makes an earlier entry the leaf, and settles the branch that it leaves. If the entry is the end of a branch, the others that this
   * session has reported are settled too. `settles`: the ends of further branches to settle, by their ids. `not_found` if the log has
   * not all of these entries. `summary`: what the model is told of the branch that it leaves; `branchWithSummary` of
   * `@sessions/core/compaction` asks a model for it.
   */
  branch(
    id: string,
    o?: EntryOptions & { readonly settles?: readonly string[]; readonly summary?: BranchSummary },
  ): Promise<AppendResult>
  /**
   * Settles the branches that end in these entries, and no others: they are no longer reported, until they are continued. The leaf stays.
   * `not_found` if the log has not all of these entries.
   */
  settle(ids: readonly string[], o?: EntryOptions): Promise<AppendResult>
  /** Sets the leaf to null, so that the next entry is a root. `summary`: as for {@link branch}. */
  resetLeaf(o?: EntryOptions & { readonly summary?: BranchSummary }): Promise<AppendResult>
  /** Sets the label of an entry; null removes it. */
  label(id: string, label: string | null, o?: EntryOptions): Promise<AppendResult>
  /** Soft delete: the entry stays in the log, and is left out of the context and of messages. */
  tombstone(id: string, o?: EntryOptions): Promise<AppendResult>
  /**
   * Replaces the content of an entry in contexts; null leaves the entry out. `invalid` for a compaction. An edit is part of its path: a
   * branch from an entry before the edit has the content from before. To hide an entry on every branch, use {@link tombstone}.
   */
  edit(
    id: string,
    replacement: null | { readonly content: string | readonly ContentBlock[] },
    o?: EntryOptions,
  ): Promise<AppendResult>
  /** Null clears the title. A title by the user (the default source) has priority over an automatic one. */
  title(title: string | null, o?: EntryOptions & { readonly source?: "user" | "auto" }): Promise<AppendResult>
  metadata<K extends keyof Metadata & string>(key: K, value: Metadata[K], o?: EntryOptions): Promise<AppendResult>

  /**
   * The states of the tool calls of the last assistant message on the path: whether each has a result, may have run, or did certainly not
   * start. Undefined if that message has no calls, or there is none. `@sessions/tool-calls` writes what this is read from. For calls of turns with
   * a lease that may be running, the document of the turn is read.
   */
  callStates(o?: CallOptions): Promise<CallStates | undefined>
  /**
   * Takes over what other writers have appended up to the call, with the events `foreign` and `diverged`, as a conflicting append does:
   * the leaf moves on if they continued it, except inside a turn that has begun to write, which moves it at its end. Returns the end of
   * the log. Appends are not affected, but those whose outcome was `indeterminate` are tried again. `not_found` if the session was
   * deleted; `conflict` with `lost` if the log has lost lines, and without if it is of another version and has changed (open it again); else the
   * errors of the storage.
   */
  refresh(o?: CallOptions): Promise<Head>
  /**
   * Refreshes the session whenever another writer has appended, until the signal fires or this handle is closed; then it resolves. The
   * storage's `watch` says when, else its head is asked for every 2 s. Outside a turn the next append therefore continues what another
   * writer has just said: use {@link turn} to keep a question and its answer together.
   *
   * While the storage is `unavailable`, the session has the diagnostic `not_followed`, and the storage is asked again after 2 s, then
   * after twice as long each time, up to 30 s. Rejects with `not_found` if the session is deleted, with `unavailable` if the code for it cannot be loaded, and with the other errors
   * of {@link refresh}. Calls on one session share one watch. It keeps a process alive until it ends, and no longer.
   */
  follow(o?: CallOptions): Promise<void>
  /** The session information, pending appends included. */
  info(o?: CallOptions): Promise<SessionInfo<Metadata>>
  /** Sizes of the stored parts of the log, in bytes. */
  parts(o?: CallOptions): Promise<{ readonly bytes: number; readonly parts: readonly SessionPart[] }>
  /**
   * Calls the listener for events of the session, whichever handle caused them, until the returned function is called or this handle is
   * closed. The appends that `close` waits for are still reported.
   */
  on<K extends keyof SessionEvents>(event: K, listener: (event: SessionEvents<Own>[K]) => void): () => void
  /** Resolves when all appends are acknowledged and, if the storage supports `sync`, on stable storage. */
  flush(o?: CallOptions): Promise<void>
  /** Closes this handle; later calls reject with `closed`. The last handle on the session flushes it. */
  close(): Promise<void>
}
