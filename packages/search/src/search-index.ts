/**
 * The interface of an index, as a search requires it. An index keeps rows of text and, for each session, how far its log was read. It may lose everything
 * at any time, as when its file is deleted or damaged: it then goes on empty, with another `epoch`, and the search reads the logs again.
 */
import type { HeadInfo, Seq } from "@sessions/core/storage"

/** The end of a log, and when it was reached. A log that was restored from a backup may have the same end, but at another time. */
export type DatedHead = Pick<HeadInfo, "log" | "next" | "updatedAt">

/** The end of a log as the index has read it. */
export interface IndexedHead extends DatedHead {
  /**
   * Of the last line: its id, or nothing if that is no entry, a space, and its mark (`lineMark`). A log that was restored from a backup has
   * another one there.
   */
  readonly last: string
  /** The log is of another version: read as a whole, and again when it has changed. */
  readonly whole: boolean
  /** Version of the program that has read it, see `extractionOf`. A greater one reads the log again. */
  readonly extraction: number
}

/** The text of one entry. */
export interface IndexRow {
  readonly seq: Seq
  readonly entryId: string
  readonly role: string
  readonly timestamp: string
  /** The timestamp in milliseconds, 0 if it is no time. */
  readonly time: number
  readonly text: string
  readonly words: readonly string[]
}

/** A step of reading one session, or its removal (`head` undefined). */
export interface IndexChange {
  readonly session: string
  /** The state that the index must have read before; undefined: nothing. */
  readonly expect: IndexedHead | undefined
  readonly head: IndexedHead | undefined
  /** Everything that the index has of the session is removed first. */
  readonly reset: boolean
  /** Undefined: unchanged. */
  readonly cwd?: string
  /** Entries whose rows are removed before `rows` are added. */
  readonly removed: readonly string[]
  readonly rows: readonly IndexRow[]
}

export interface IndexQuery {
  /** At least one; all must match as prefixes. */
  readonly words: readonly string[]
  readonly cwd?: string
  readonly role?: string
  readonly order: "newest" | "best"
  readonly limit: number
  readonly cursor?: string
  /** Sessions without hits. */
  readonly without: ReadonlySet<string>
}

export interface IndexHit extends Omit<IndexRow, "time" | "words"> {
  readonly session: string
}

export type Heads = ReadonlyMap<string, IndexedHead>

export interface IndexAnswer {
  readonly hits: readonly IndexHit[]
  readonly next?: string
  /** How far the sessions were read in the state that was asked. */
  readonly heads: Heads
  readonly epoch: string
}

export interface SearchIndex {
  /** How far each session was read. `epoch` is another one when the index has begun anew. */
  heads(): Promise<{ readonly heads: Heads; readonly epoch: string }>
  /** Makes the changes, in order, in one step. Those whose `expect` does not hold are left out; returns whether all held. */
  write(changes: readonly IndexChange[]): Promise<boolean>
  query(query: IndexQuery): Promise<IndexAnswer>
  /** Removes from the store what `write` has removed from the answers. */
  purge(signal: AbortSignal): Promise<void>
  clear(): Promise<void>
  close(): Promise<void>
}

/** Whether the index is where a change requires it to be. */
export function isAt(head: IndexedHead | undefined, expect: IndexedHead | undefined): boolean {
  if (head === undefined || expect === undefined) return head === expect
  return head.log === expect.log && head.next === expect.next && head.last === expect.last
}
