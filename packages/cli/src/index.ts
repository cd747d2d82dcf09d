/** The `sessions` command as a function, for programs that run it with their own streams or stores. */
export type { Io, Sink } from "./io.ts"
export { processIo } from "./process-io.ts"
export { run } from "./run/run.ts"
export type { StoreFactory, StoreOptions } from "./store/open.ts"
export { STORES } from "./store/open.ts"
