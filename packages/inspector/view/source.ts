/** Where the view gets sessions from: the data of an exported file, or a server. */
import type { ContextView, Row, StoredEntry, Summary } from "../src/model/types.ts"
import type { Listed } from "../src/serve/list.ts"
import type { FoundEntry } from "../src/serve/inspector.ts"

export interface SessionData {
  /** Undefined: only the end of the session has come, and `rows` has its last entries alone. */
  readonly whole: Summary | undefined
  readonly summary: Pick<Summary, "id" | "info" | "leaf" | "diagnostics" | "redacted">
  /** The entries of the log without their content, in log order. */
  readonly rows: ReadonlyMap<number, Row>
  /** Entries with these seqs; those that the log does not have are left out. */
  load(seqs: readonly number[]): Promise<ReadonlyMap<number, StoredEntry>>
  /** What a model would get. */
  context(): Promise<ContextView>
  /** Calls `found` for each entry whose text has `words`, newest first, until the signal fires or `found` returns false. */
  find(words: string, found: (row: Row) => boolean, signal: AbortSignal): Promise<void>
}

/** A session that is read, the reason why it cannot be, or undefined while it is not known. */
export type Opened = { readonly data: SessionData } | { readonly problem: string } | undefined

export interface Source {
  /** The session that is shown first; undefined: a list of sessions. */
  readonly first: string | undefined
  /** What is known at once. */
  peek(session: string): Opened
  /** Calls `changed` when more is known. Returns the function that ends it. */
  open(session: string, changed: (opened: Opened) => void): () => void
  readonly list?: SessionList
  /** Missing: sessions are read alone. */
  readonly changes?: Changes
  /** Saves a session as a file. */
  readonly save?: (session: string, format: "html" | "jsonl") => Promise<void>
}

/** The changes that a server makes for the page; `docs/inspector.md` lists them. */
export interface Changes {
  /** Makes one, and reads the session again. */
  make(session: string, call: string, body: Readonly<Record<string, unknown>>): Promise<void>
  remove(session: string): Promise<void>
  /** Whether a session can be compacted. */
  readonly compact: boolean
}

export interface SessionList {
  page(words: string, cursor: string | undefined, signal: AbortSignal): Promise<Listed & { readonly store: string }>
  /** Undefined if the server has no search. */
  search(words: string, signal: AbortSignal): Promise<readonly FoundEntry[] | undefined>
}
