/** The in-memory storage of `@sessions/core`. */
export type { MemoryLocation } from "./location.ts"
export { createMemoryLocation } from "./location.ts"
export type { MemoryLimits, MemoryStorageOptions } from "./storage.ts"
export { createMemoryStorage } from "./storage.ts"
