/** Storages that fail on demand: for those who use storages and want to know what becomes of them then. */
export type { Call, Fault, FaultyOptions, FaultyStorage, Operation, Planned } from "./storage.ts"
export { createFaultyStorage } from "./storage.ts"
export { withFaults } from "./subject.ts"
