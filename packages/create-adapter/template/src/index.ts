export { createMyStoreStorage } from "./storage.ts"
export type { Location } from "./store.ts"
