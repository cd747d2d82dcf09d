/**
 * The storage contract: all that core requires of a storage.
 *
 * A storage keeps lines, not objects. A session is one log: an ordered sequence of lines, numbered from 0, that only grows at
 * its end. Only core interprets the lines, so an adapter can neither drop an unknown field nor reorder a key, a copy is
 * byte-exact, and parsing happens once. `docs/contract.md` states every clause; the conformance suite checks each of them.
 */

// For programs whose `lib` has no `AsyncDisposable`, such as a new project of Vite: every entry of this package imports this file.
/// <reference lib="esnext.disposable" preserve="true" />

import type { StorageError } from "./errors.ts"

/** The index of a line in its session's log, from 0. */
export type Seq = number

/** The end of a log as a reader last saw it: the precondition of every append. */
export interface Head {
  /** The seq that the next line will get; equals the number of lines. */
  readonly next: Seq
  /**
   * Identity of this log. Stays the same while the log grows; changes when the session is deleted and created again, and with
   * {@link SessionStorage.replace}. Compared as an opaque string.
   */
  readonly log: string
  /**
   * The mark of the log's last line, see `lineMark`: with it an append is refused if the log ends in another line, as after an older copy was
   * put back and continued. Without it, here or in the store, only `next` and `log` are compared. Heads that a storage returns need not have it.
   */
  readonly mark?: number
}

/** One stored part of a log, in adapters that keep a log in several files or objects. */
export interface PartInfo {
  /** Seq of the part's first line. */
  readonly from: Seq
  readonly bytes: number
  /** The part's path or key, for people. */
  readonly at?: string
}

/** Facts that a storage knows of a log without reading its lines. */
export interface HeadInfo extends Head {
  /** Size of the log: UTF-8 bytes of all lines, plus one LF each. */
  readonly bytes: number
  /** Milliseconds since the epoch by the storage's clock, of the last acknowledged append. */
  readonly updatedAt: number
  /** In log order; missing if the adapter keeps a log in one part. */
  readonly parts?: readonly PartInfo[]
  /** The text that came with an append (see {@link StorageAppendOptions.info}); `next` is the head's `next` it was given for. */
  readonly info?: { readonly text: string; readonly next: Seq }
  /** Bytes after the last whole line, left by a crash in the middle of a write. They are not part of the log. */
  readonly torn?: number
  /** If it was asked for ({@link HeadOptions.cut}): a sentence for each whole record without its LF that was cut off the end of the log, with the place that has it. */
  readonly cut?: readonly string[]
  /** The first line of the log, if it was asked for ({@link HeadOptions.first}) and the storage has it in the same round trip. */
  readonly first?: string
}

export interface HeadOptions extends CallOptions {
  /** The caller reads the first line next: a storage that can return it with the head saves a round trip. Default false. */
  readonly first?: boolean
  /** The caller verifies the log: the storage also looks for what was cut off its end ({@link HeadInfo.cut}). Default false. */
  readonly cut?: boolean
}

/** Contiguous lines, in log order: never empty, at most {@link MAX_CHUNK_BYTES} unless a single line is longer. */
export interface Chunk {
  /** Seq of the first line. */
  readonly from: Seq
  readonly lines: readonly string[]
}

/**
 * Which lines to read: those from `from` (inclusive, default 0) to `to` (exclusive, default the end), or a window, the last whole
 * lines before `before` (exclusive, default the end) that come to at most `maxBytes`. An empty object means the whole log.
 */
export type ReadRange = (
  | { readonly from?: Seq; readonly to?: Seq }
  | {
      readonly before?: Seq
      /** UTF-8 bytes, one LF a line; a whole number from 1. At least one line is given, however long it is. */
      readonly maxBytes: number
    }
) & {
  /** The identity that the log must have ({@link Head.log}). Any other, or no session, is `conflict`. */
  readonly log?: string
}

export interface CallOptions {
  /** Rejects the call with `aborted`; see the clauses on signals in `docs/contract.md`. */
  readonly signal?: AbortSignal
}

export interface StorageAppendOptions extends CallOptions {
  /** The head that the lines must directly follow; 0 creates the session. */
  readonly expect: 0 | Head
  /**
   * Up to {@link MAX_INFO_BYTES} of text kept with the head and returned by `head` and `list`. It is the session information as of
   * this append, a cache: a storage may write it later than the lines; `info.next` is the head it belongs to.
   */
  readonly info?: string
}

export interface StorageListOptions extends CallOptions {
  /** Only ids after this one; storages with `listOrder: "updatedAt"` refuse it with `unsupported`. */
  readonly after?: string
  readonly limit?: number
}

/** The row of a session in `list`: what its `head` answers. */
export interface ListedSession extends HeadInfo {
  readonly id: string
  readonly error?: undefined
}

/** The row of a session whose `head` rejects, because it is damaged or of a newer version. It has no field of a head. */
export type UnreadableSession = { readonly [Field in keyof HeadInfo]?: undefined } & {
  readonly id: string
  /** The error with which `head` rejects. */
  readonly error: StorageError
}

export type ListRow = ListedSession | UnreadableSession

export interface StorageDeleteOptions extends CallOptions {
  /** The end that the log must have. Any other, or no session, is `conflict`. `unsupported` without {@link Capabilities.deleteIf}. */
  readonly expect?: Head
}

/** The result of `delete`. Sizes are those of the log as `head` reported it, and zeros if there was no session. */
export interface Deleted {
  readonly bytes: number
  readonly parts: number
  /**
   * Whether the store holds nothing of the session any more: no line, no document, no copy that the storage made. False: the session
   * is deleted, but removing its bytes failed or the store keeps old versions; another `delete` tries again.
   */
  readonly purged: boolean
}

export interface SweepOptions extends CallOptions {
  /** Removes nothing, and counts what it would remove. Default false. */
  readonly dryRun?: boolean
}

/** The result of `sweep`. */
export interface Swept {
  /** How many things were removed, as the store has them: files, folders, objects, logs. */
  readonly removed: number
  /** Their size, as far as the store knows it. */
  readonly bytes: number
  /** How many could not be removed. The next sweep tries again. */
  readonly left: number
}

/** Capabilities and guarantees of a storage. Constant for the life of a storage object. */
export interface Capabilities {
  /**
   * The failures that an acknowledged append survives: `"none"` nothing (memory), `"os"` the end of the process, `"disk"` a power failure,
   * `"replicated"` the loss of a disk. Documents and blobs are at least as durable.
   */
  readonly durability: "none" | "os" | "disk" | "replicated"
  /** The part that a crash may leave of a batch that was not acknowledged: nothing or all of it, or a prefix in whole lines. */
  readonly atomicBatch: "all" | "prefix"
  /** How far apart two writers may be and still be safe: in one storage object, on one host, anywhere. */
  readonly writers: "instance" | "host" | "any"
  /** The order in which `list` yields: newest `updatedAt` first, or ascending id. */
  readonly listOrder: "updatedAt" | "id"
  readonly sync: boolean
  readonly watch: boolean
  readonly replace: boolean
  /** Whether `delete` takes `expect`. Default false. */
  readonly deleteIf?: boolean
  /** The longest line, in UTF-8 bytes without its LF. */
  readonly maxLineBytes: number
  /** The largest batch, in UTF-8 bytes with one LF a line. */
  readonly maxBatchBytes: number
  /** The largest log. Core enforces it, with its exceptions; a storage refuses with `invalid` only what it cannot store. */
  readonly maxSessionBytes: number
}

/** A small text with a version: equal texts have equal versions, different texts have different ones. */
export interface Doc {
  readonly text: string
  readonly version: string
}

/**
 * Small texts beside the logs, replaced as a whole by compare-and-set. A key is `sessions/<id>/<name>` (deleted with the session)
 * or `<name>`; names are `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
 */
export interface DocStore {
  get(key: string, o?: CallOptions): Promise<Doc | undefined>
  /** `expect: null` requires that there is none. Any other version than the stored one is `conflict`. Returns the new version. */
  put(key: string, text: string, o: CallOptions & { readonly expect: string | null }): Promise<string>
  /** Requires the version; a missing document is `conflict`. */
  delete(key: string, o: CallOptions & { readonly expect: string }): Promise<void>
  /** Keys that start with the prefix, in ascending order. */
  list(prefix?: string, o?: CallOptions): AsyncIterable<string>
}

export interface BlobInfo {
  /** 64 lower-case hex digits: the SHA-256 of the bytes. */
  readonly hash: string
  readonly bytes: number
  /** Milliseconds since the epoch of the last `put`. */
  readonly putAt: number
}

/** Byte strings named by the SHA-256 of their content, shared by all sessions of the storage. */
export interface BlobStore {
  /** Returns the hash. A put of bytes that exist renews their `putAt`, so that a running collection does not delete them. */
  put(bytes: Uint8Array, o?: CallOptions): Promise<string>
  get(hash: string, o?: CallOptions): Promise<Uint8Array | undefined>
  has(hash: string, o?: CallOptions): Promise<boolean>
  /** With `ifPutBefore`, only a blob whose last put is older than that instant. Returns whether one was removed. Idempotent. */
  delete(hash: string, o?: CallOptions & { readonly ifPutBefore?: number }): Promise<boolean>
  list(o?: CallOptions): AsyncIterable<BlobInfo>
}

/**
 * Stores sessions. Factories are synchronous; a storage connects at its first use. All methods reject with a {@link StorageError};
 * an operation or option that a storage cannot serve is `unsupported`, never ignored.
 */
export interface SessionStorage extends AsyncDisposable {
  readonly capabilities: Capabilities
  /** A short name and location for error messages, e.g. `fs:/srv/agent/.sessions`. */
  readonly description: string

  /**
   * Puts all lines directly after `expect`, or none. A head other than the stored one is `conflict`. Creating (`expect: 0`) is
   * always atomic, whatever `atomicBatch` is. Every rejection except `indeterminate` and `aborted` with `sent` guarantees that no line
   * of the batch is in the log or ever will be.
   */
  append(session: string, lines: readonly string[], o: StorageAppendOptions): Promise<Head>

  /** Cost does not grow with the log. `undefined` if there is no session. */
  head(session: string, o?: HeadOptions): Promise<HeadInfo | undefined>

  /**
   * In log order, each line once, no gaps, byte for byte, all that was committed before the call and nothing appended after it
   * began. A missing session yields nothing. A log that is deleted or replaced meanwhile: `conflict`. Damage: `corrupt`; a window
   * of at most {@link MAX_CHUNK_BYTES} gives the lines behind it.
   */
  read(session: string, range?: ReadRange, o?: CallOptions): AsyncIterable<Chunk>

  /**
   * Reads no log. For the order see `capabilities.listOrder`; with `updatedAt`, an unreadable row may come anywhere. Rejects only if the
   * store as a whole does not answer.
   */
  list(o?: StorageListOptions): AsyncIterable<ListRow>

  /**
   * Removes the session and its documents atomically, for all readers and writers. Idempotent; a repeat also removes the bytes that an
   * earlier call left (`purged: false`, or a crash). Blobs stay until they are collected. With `expect`, only a log that ends there.
   */
  delete(session: string, o?: StorageDeleteOptions): Promise<Deleted>

  /** Resolves when every acknowledged append is on stable storage. */
  sync?(session: string, o?: CallOptions): Promise<void>

  /** Replaces the whole log atomically; readers and writers of the old one get `conflict`. */
  replace?(session: string, chunks: AsyncIterable<Chunk>, o: CallOptions & { readonly expect: Head }): Promise<Head>

  /**
   * Yields the head when the log has changed. May be late and may skip heads, but never yields one that did not exist. Ends, without an
   * error, when its signal fires, the session is deleted or the storage is disposed of.
   */
  watch?(session: string, o?: CallOptions): AsyncIterable<Head>

  /**
   * Removes what no reader and no writer can reach any more: what deletions, replacements and interrupted writes left, and what the store
   * keeps of them for a time that has passed. Blobs stay. Safe beside readers and writers, and may be
   * interrupted anywhere. A storage without it never has such remains.
   */
  sweep?(o?: SweepOptions): Promise<Swept>

  readonly docs: DocStore
  readonly blobs: BlobStore
}

/** Largest `info`, in UTF-8 bytes. */
export const MAX_INFO_BYTES = 8192

/** Largest chunk of a read, in UTF-8 bytes, unless a single line is longer. 256 KB is the size of one S3 segment and of one read from a file. */
export const MAX_CHUNK_BYTES = 262_144
