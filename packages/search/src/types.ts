/** The public interface of a search: what is asked for, and what it answers. */
import type { Hooks } from "@sessions/core"
import type { CallOptions, Seq, SessionStorage } from "@sessions/core/storage"
import type { ToMessage } from "./content.ts"
import type { SearchIndex } from "./search-index.ts"

export interface SearchOptions {
  /** The storage of the sessions. It stays open when the search is closed. */
  readonly storage: SessionStorage
  /** Where the index is kept: `createSqliteIndex`, `createIndexedDbIndex` or `createMemoryIndex`. Closed with the search. */
  readonly index: SearchIndex
  /**
   * The message that an entry of another program is, so that its text is found; undefined: it is none. Asked for entries without a text of
   * their own, such as those of the type `custom`. The same entry has to give the same message, in all programs that use the index: give
   * the function a greater `version` when it gives others, and the sessions are read again. So they are when an index was built without
   * `toMessage`. Default: such entries are not found.
   */
  readonly toMessage?: ToMessage
}

export interface FindOptions extends CallOptions {
  /** Only sessions with exactly this cwd. Default: all. */
  readonly cwd?: string
  /** Only this role: that of a message, else the type of the entry (`compaction`, `branch_summary`, `custom_message`). Default: all. */
  readonly role?: string
  /** `"newest"` (default): by the timestamps of the entries. `"best"`: by BM25, of the newest 2,000 matches. */
  readonly order?: "newest" | "best"
  /** 1-200, default 20. */
  readonly limit?: number
  /** `next` of the previous page, with the same words and options. */
  readonly cursor?: string
  /**
   * The logs that are read before the answer. `"all"` (default): what any program has written; costs a listing of the storage. `"own"`: the sessions
   * that {@link Search.hooks} has reported; what other processes wrote may be missing, but a hit is never out of date. The first search of
   * an object reads all in both cases.
   */
  readonly catchUp?: "all" | "own"
}

export interface SnippetPart {
  readonly text: string
  /** Whether this is a word that was searched for. */
  readonly match: boolean
}

export interface SearchHit {
  readonly session: string
  readonly entryId: string
  readonly seq: Seq
  /** Timestamp of the entry, as it is stored. */
  readonly timestamp: string
  readonly role: string
  /** About 160 characters of the text, in parts. Untrusted, like everything in a log. */
  readonly snippet: readonly SnippetPart[]
}

/** A session that could not be read, or for whose new lines the index has no space (`quota`), with the error. It has no hits. */
export interface UnreadableSession {
  readonly id: string
  readonly error: unknown
}

export interface SearchPage {
  readonly hits: readonly SearchHit[]
  /** Pass it as `cursor` to get the next page; undefined on the last one. */
  readonly next?: string
  readonly unreadable: readonly UnreadableSession[]
}

export interface CatchUpOptions extends CallOptions {
  /** Called after each session that was read. `of`: how many there are to read. */
  readonly onProgress?: (progress: { readonly sessions: number; readonly of: number }) => void
}

export interface CaughtUp {
  /** How many sessions had something new, or were removed. */
  readonly sessions: number
  readonly unreadable: readonly UnreadableSession[]
}

/** Full-text search over all conversations of a storage. */
export interface Search extends AsyncDisposable {
  /**
   * Finds the entries that have a word beginning with each word of `text`, on all branches. Case and accents do not count; everything but
   * letters and digits separates words. Not found: what a tombstone or an edit hides on any branch. No word: no hits.
   *
   * The answer is that of the logs as they were when the call began, or later. `invalid`, `aborted`, `closed`, and the errors of the
   * storage and of the index.
   */
  search(text: string, o?: FindOptions): Promise<SearchPage>
  /**
   * Reads the new lines of all sessions into the index, and removes for good what has been deleted. A search does the first by itself, so
   * this is for programs that do it beforehand. A crash loses no more than the sessions that were being read; they are read again.
   * `unavailable` if all was read, but bytes of deleted rows are left because another process reads the index: call it again.
   */
  catchUp(o?: CatchUpOptions): Promise<CaughtUp>
  /** Reads the new lines of one session into the index; removes the session if it was deleted. */
  update(session: string, o?: CallOptions): Promise<void>
  /** Deletes the index. The next search builds it again. */
  clear(): Promise<void>
  /** For `createSessions({ storage, hooks: search.hooks })`: remembers which sessions this process has changed. */
  readonly hooks: Hooks
  /** Ends what is running and closes the index; later calls are `closed`. The storage stays open. */
  close(): Promise<void>
}
