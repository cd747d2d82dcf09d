/** Where the view gets sessions from: the data of an exported file, or a server. */
import type { Row, StoredEntry, Summary } from "../src/model/types.ts"

export interface SessionData {
  readonly summary: Summary
  /** All entries of the log without their content, in log order. */
  readonly rows: ReadonlyMap<number, Row>
  /** Entries with these seqs; those that the log does not have are left out. */
  load(seqs: readonly number[]): Promise<ReadonlyMap<number, StoredEntry>>
  /** Calls `found` for each entry whose text has `words`, newest first, until the signal fires or `found` returns false. */
  find(words: string, found: (seq: number) => boolean, signal: AbortSignal): Promise<void>
}

export interface Source {
  /** The session that is shown first. */
  readonly first: string
  /** Undefined if the source does not have it. */
  open(session: string): SessionData | undefined
}
