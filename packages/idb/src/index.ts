export type { IndexedDbStorageOptions } from "./options.ts"
export type { Room } from "./room.ts"
export { createIndexedDbStorage, type Folded, type IndexedDbStorage } from "./storage.ts"
