/** Storages that fail on demand: for those who use storages and want to know what becomes of them then. */
export type { Call, Fault, FaultyOptions, FaultyStorage, Operation, Planned } from "./faulty-storage.ts"
export { createFaultyStorage } from "./faulty-storage.ts"
export { withFaults } from "./with-faults.ts"
