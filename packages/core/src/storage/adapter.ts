/** What an adapter writes: the store's own part of a storage. {@link defineStorage} makes the storage of it. */
import type { Call, Calls } from "./calls.ts"
import type { CheckedRange } from "./checks.ts"
import type {
  StorageAppendOptions,
  BlobInfo,
  CallOptions,
  Capabilities,
  Chunk,
  Deleted,
  Head,
  HeadInfo,
  ListedSession,
} from "./contract.ts"
import type { StorageError } from "./errors.ts"

type Given<T> = T | Promise<T>

/**
 * The methods of a storage, as they are called after everything that does not depend on the store was checked: the storage is open,
 * the signal has not fired, ids, keys, hashes, lines and options are right, arrays are copies. They may throw or reject with anything.
 */
export interface StorageAdapter {
  /** A short name and place for error messages, e.g. `fs:/srv/agent/.sessions`. */
  readonly description: string
  /** `sync`, `watch` and `replace` follow from the methods that are there. */
  readonly capabilities: Omit<Capabilities, "sync" | "watch" | "replace">
  /**
   * The methods mind `signal` themselves, up to the moment when they send. Default: a signal that fires while a method works ends the
   * waiting, and a write counts as sent.
   */
  readonly aborts?: boolean
  /**
   * What an error that is no {@link StorageError} means. Default `unavailable`. What the error leaves open of `storage`, `session` and
   * `at` is added.
   */
  readonly toError?: (error: unknown, call: Call) => StorageError

  append(session: string, lines: readonly string[], o: StorageAppendOptions): Given<Head>
  head(session: string, o: CallOptions): Given<HeadInfo | undefined>
  /**
   * The lines of a range or, with `maxBytes`, of a window: `rangeIn` gives its seqs and compares its `log`. Returned from when its
   * reader stops, or when the storage is closed: what it holds, it gives back in a `finally`.
   */
  read(session: string, range: CheckedRange, o: CallOptions): AsyncIterable<Chunk>
  /** Rows in pages of any size; those past `limit` are dropped. Without `after` that is the empty text, which no id comes before. */
  list(o: ListRange): AsyncIterable<readonly ListedSession[]>
  delete(session: string, o: CallOptions): Given<Deleted>
  sync?(session: string, o: CallOptions): Given<void>
  /** The chunks follow each other, their lines are right, and there is at least one; else taking them throws. */
  replace?(session: string, chunks: AsyncIterable<Chunk>, o: CallOptions & { readonly expect: Head }): Given<Head>
  /** Made by `watchHeads`. Checks and calls by itself, since it begins to look before its first value is asked for. */
  readonly watch?: Watch
  readonly docs: DocumentAdapter
  readonly blobs: BlobAdapter
  /** Called once, when the last call is through and every reader has ended. */
  close?(): Given<void>
}

export interface ListRange extends CallOptions {
  readonly after: string
  readonly limit: number
}

/** Documents as their texts. A version is made of the text, so that it is not the store's concern. */
export interface DocumentAdapter {
  get(key: string, o: CallOptions): Given<string | undefined>
  /**
   * In one step: puts `to` in the place of `from`, where null is no document. False, and nothing is done, where `from` is not what is
   * stored.
   */
  compareAndSet(key: string, from: string | null, to: string | null, o: CallOptions): Given<boolean>
  list(prefix: string, o: CallOptions): AsyncIterable<readonly string[]>
}

export interface BlobAdapter {
  /** The bytes are a copy, and the hash is theirs. */
  put(hash: string, bytes: Uint8Array, o: CallOptions): Given<unknown>
  get(hash: string, o: CallOptions): Given<Uint8Array | undefined>
  has(hash: string, o: CallOptions): Given<boolean>
  /** Without a condition `ifPutBefore` is infinite. */
  delete(hash: string, o: CallOptions & { readonly ifPutBefore: number }): Given<boolean>
  list(o: CallOptions): AsyncIterable<readonly BlobInfo[]>
}

export type Watch = (session: string, o: CallOptions | undefined, calls: Calls) => AsyncIterable<Head>
