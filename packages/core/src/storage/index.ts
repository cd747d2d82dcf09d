/** The storage contract, and the functions that adapters share. Depends on no other part of core. `docs/writing-an-adapter.md`. */

// The contract: what core calls, and what every storage guarantees.
export { MAX_CHUNK_BYTES, MAX_INFO_BYTES } from "./contract.ts"
export type {
  BlobInfo,
  BlobStore,
  CallOptions,
  Capabilities,
  Chunk,
  Deleted,
  Doc,
  DocStore,
  Head,
  HeadInfo,
  HeadOptions,
  ListedSession,
  ListRow,
  PartInfo,
  ReadRange,
  Seq,
  SessionStorage,
  StorageAppendOptions,
  StorageDeleteOptions,
  StorageListOptions,
  SweepOptions,
  Swept,
  UnreadableSession,
} from "./contract.ts"
export { hasStorageCode, StorageError } from "./errors.ts"
export type { Failure, StorageErrorCode, StorageErrorDetails } from "./errors.ts"

// The interface that an adapter implements, and the storage made of it.
export type { AdapterListRow, BlobAdapter, DocumentAdapter, ListRange, StorageAdapter, Watch } from "./adapter.ts"
export type { AdapterAppendOptions } from "./info-later.ts"
export { type Defined, defineStorage } from "./define.ts"

// Parts of adapters: connecting, heads, pages of lines, watching, queues of tasks, and calls beyond the contract.
export { type Connection, type ConnectionSource, connectOnce } from "./connect.ts"
export { checkExpect, headAfter, headAt, isSameLine, lineMark, newLog, rangeIn } from "./head.ts"
export {
  afterDamage,
  type FindWindow,
  type LineRows,
  type LinesPage,
  listPages,
  readPages,
  readRows,
  takeChunk,
  toListRow,
  type WindowStep,
  windowStart,
} from "./pages.ts"
export { watchHeads, type WatchSource } from "./watch.ts"
export { createListeners, type Listeners } from "./listeners.ts"
export { createQueue, type Queue } from "./queue.ts"
export { type Call, type Calls, type CallsOptions, createCalls, unlessAborted } from "./calls.ts"

// Checks of arguments, for calls beyond the contract; `defineStorage` checks those of the contract.
export { checkListOptions, checkRange, type CheckedRange, checkSessionId, isSessionId, parseDocKey } from "./checks.ts"
export { checkSignal, onAbort } from "./signals.ts"

// Checks of the options of a factory.
export { checkOptions, type OptionNames } from "./options.ts"

// Text and bytes.
export { sha256Hex } from "./hash.ts"
export { batchBytes, fromUtf8, toUtf8, utf8Length } from "./utf8.ts"
