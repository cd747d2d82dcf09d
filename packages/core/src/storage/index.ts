export { type Call, type Calls, type CallsOptions, createCalls, unlessAborted } from "./calls.ts"
export * from "./checks.ts"
export { type Connection, type ConnectionSource, connectOnce } from "./connect.ts"
export * from "./contract.ts"
export { type Defined, defineStorage } from "./define.ts"
export * from "./errors.ts"
export * from "./head.ts"
export { sha256Hex } from "./hash.ts"
export type { BlobAdapter, DocumentAdapter, ListRange, StorageAdapter, Watch } from "./adapter.ts"
export {
  afterDamage,
  type FindWindow,
  type LinesPage,
  listPages,
  readPages,
  takeChunk,
  type WindowStep,
  windowStart,
} from "./pages.ts"
export { fromUtf8, toUtf8 } from "./texts.ts"
export { watchHeads, type WatchSource } from "./watch.ts"
