import type { Subject } from "@sessions/conformance"
import type { Capabilities } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"

export const memory: Subject<MemoryLocation> = {
  name: "memory",
  makeLocation: createMemoryLocation,
  open: (location) => createMemoryStorage({ location }),
}

/** The capabilities of {@link memory}, for runners that need them before a case starts. */
export const capabilities: Capabilities = createMemoryStorage({ location: createMemoryLocation() }).capabilities

/** Without a shared location: one writer, and nothing outlives the storage object. Its limits are small enough to be tested. */
export const memoryAlone: Subject<undefined> = {
  name: "memory alone",
  makeLocation: () => undefined,
  open: () => createMemoryStorage({ limits: { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 } }),
}
