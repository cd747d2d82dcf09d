import type { Subject } from "@sessions/conformance"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import type { MemoryLocation } from "@sessions/memory"

export const memory: Subject<MemoryLocation> = {
  name: "memory",
  makeLocation: createMemoryLocation,
  open: (location) => createMemoryStorage({ location }),
}

/** Without a shared place: one writer, and nothing outlives the storage object. Small limits, so that they are tried at once. */
export const memoryAlone: Subject<undefined> = {
  name: "memory alone",
  makeLocation: () => undefined,
  open: () => createMemoryStorage({ limits: { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 } }),
}
