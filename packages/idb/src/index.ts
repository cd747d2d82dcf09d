export type { StorageEstimate } from "./browser/storage-estimate.ts"
export type { CompactedRows } from "./log/compact-rows.ts"
export type { IndexedDbStorageOptions } from "./options.ts"
export { createIndexedDbStorage, type IndexedDbStorage } from "./storage.ts"
