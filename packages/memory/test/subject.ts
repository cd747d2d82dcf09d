import type { Subject } from "@sessions/conformance"
import type { Capabilities } from "@sessions/core/storage"
import type { MemoryLocation } from "@sessions/memory"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

export const memory: Subject<MemoryLocation> = {
  name: "memory",
  makeLocation: createMemoryLocation,
  open: (location) => createMemoryStorage({ location }),
}

/** What {@link memory} can do, for runners that must know before a case starts. */
export const capabilities: Capabilities = createMemoryStorage({ location: createMemoryLocation() }).capabilities

/** Without a shared place: one writer, and nothing outlives the storage object. Small limits, so that they are tried at once. */
export const memoryAlone: Subject<undefined> = {
  name: "memory alone",
  makeLocation: () => undefined,
  open: () => createMemoryStorage({ limits: { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 } }),
}
