export type { IndexedDbStorageOptions } from "./options.ts"
export type { Room } from "./browser/storage-estimate.ts"
export { createIndexedDbStorage, type Folded, type IndexedDbStorage } from "./storage.ts"
