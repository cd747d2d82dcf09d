/** Storages that fail on demand, for testing code that uses a storage. */
export type { Call, Fault, FaultyOptions, FaultyStorage, Operation, PlannedFault } from "./faulty-storage.ts"
export { createFaultyStorage } from "./faulty-storage.ts"
export { withFaults } from "./with-faults.ts"
