export { createBunStorage, type BunStorageOptions } from "./storage.ts"
