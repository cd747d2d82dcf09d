/** The interface that an adapter implements. {@link defineStorage} turns it into a `SessionStorage`. */
import type { Calls, CallsOptions } from "./calls.ts"
import type { CheckedRange } from "./checks.ts"
import type { AdapterAppendOptions } from "./info-later.ts"
import type {
  StorageDeleteOptions,
  SweepOptions,
  Swept,
  BlobInfo,
  CallOptions,
  Capabilities,
  Chunk,
  Deleted,
  Head,
  HeadInfo,
  HeadOptions,
  ListedSession,
  UnreadableSession,
} from "./contract.ts"

export type MaybePromise<T> = T | Promise<T>

/**
 * The methods of a storage. They are called after all checks that do not depend on the store: the storage is open, the signal has
 * not fired, ids, keys, hashes, lines and options are valid, arrays are copies. They may throw or reject with any value.
 */
export interface StorageAdapter extends CallsOptions {
  /** `sync`, `watch` and `replace` are true if the adapter has the method. */
  readonly capabilities: Omit<Capabilities, "sync" | "watch" | "replace">

  /** `append` takes `infoLater` in place of `info`, because most information is never stored. */
  readonly infoLater?: true

  append(session: string, lines: readonly string[], o: AdapterAppendOptions): MaybePromise<Head>
  /** Without `first` in the options the result has none. */
  head(session: string, o: HeadOptions): MaybePromise<HeadInfo | undefined>
  /**
   * The lines of a range or, with `maxBytes`, of a window: `rangeIn` returns its seqs and compares its `log`. The iterator's `return()`
   * is called when the reader stops or the storage is closed: release resources in a `finally`.
   */
  read(session: string, range: CheckedRange, o: CallOptions): AsyncIterable<Chunk>
  /**
   * Rows in pages of any size; rows past `limit` are dropped. A missing `after` is passed as "", which sorts before every id. A session
   * that cannot be read is a row with its error (see {@link toListRow}), so that it hides no other.
   */
  list(o: ListRange): AsyncIterable<readonly AdapterListRow[]>
  /** `expect` is given only if the capabilities have `deleteIf`. */
  delete(session: string, o: StorageDeleteOptions): MaybePromise<Deleted>
  sync?(session: string, o: CallOptions): MaybePromise<void>
  /** `chunks` is contiguous from seq 0, has valid lines and at least one of them; otherwise iterating it throws. */
  replace?(
    session: string,
    chunks: AsyncIterable<Chunk>,
    o: CallOptions & { readonly expect: Head },
  ): MaybePromise<Head>
  sweep?(o: SweepOptions): MaybePromise<Swept>
  /** Made by `watchHeads`, which checks its arguments itself, since it reads the head before the first value is requested. */
  readonly watch?: Watch
  readonly docs: DocumentAdapter
  readonly blobs: BlobAdapter
  /** Called once, after the last call and the last reader have ended. */
  close?(): MaybePromise<void>
}

/** A row of `list`. An error that is no {@link StorageError} is converted like one that `head` throws. */
export type AdapterListRow = ListedSession | (Omit<UnreadableSession, "error"> & { readonly error: Error })

export interface ListRange extends CallOptions {
  readonly after: string
  readonly limit: number
}

/** Documents as texts. `defineStorage` derives the version from the text, so the store keeps none. */
export interface DocumentAdapter {
  get(key: string, o: CallOptions): MaybePromise<string | undefined>
  /** Atomically replaces `from` by `to`; null means no document. Returns false, without a change, if `from` is not the stored text. */
  compareAndSet(key: string, from: string | null, to: string | null, o: CallOptions): MaybePromise<boolean>
  list(prefix: string, o: CallOptions): AsyncIterable<readonly string[]>
}

export interface BlobAdapter {
  /** `bytes` is a copy, and `hash` is its SHA-256. */
  put(hash: string, bytes: Uint8Array, o: CallOptions): MaybePromise<unknown>
  get(hash: string, o: CallOptions): MaybePromise<Uint8Array | undefined>
  has(hash: string, o: CallOptions): MaybePromise<boolean>
  /** `ifPutBefore` is `Infinity` for an unconditional delete. */
  delete(hash: string, o: CallOptions & { readonly ifPutBefore: number }): MaybePromise<boolean>
  list(o: CallOptions): AsyncIterable<readonly BlobInfo[]>
}

export type Watch = (session: string, o: CallOptions | undefined, calls: Calls) => AsyncIterable<Head>
