import type { SessionStorage } from "@sessions/core/storage"
import type { Subject } from "../subject.ts"
import type { Fault, FaultyStorage } from "./faulty-storage.ts"
import { createFaultyStorage } from "./faulty-storage.ts"

/**
 * The subject with every fault that can be brought about at the contract's edge, without a look into the adapter: what uses the
 * storage meets them all; how the adapter itself copes with its store is told by faults of its own only.
 */
export function withFaults<L extends object>(subject: Subject<L>): Subject<L> {
  const opened = new WeakMap<L, FaultyStorage[]>()
  const inner = new WeakMap<SessionStorage, SessionStorage>()

  const arm = (location: L, fault: Fault): void => {
    // The next append may come through any of the storages on the place; the fault is for that one alone.
    let spent = false
    for (const storage of opened.get(location) ?? []) {
      storage.fail("append", () => {
        const first = !spent
        spent = true
        return first ? fault : undefined
      })
    }
  }

  return {
    ...subject,
    name: `${subject.name} with faults`,
    async open(location) {
      const raw = await subject.open(location)
      const storage = createFaultyStorage(raw)
      inner.set(storage, raw)
      opened.set(location, [...(opened.get(location) ?? []), storage])
      return storage
    },
    ...(subject.crash !== undefined && {
      crash: (storage: SessionStorage, location: L) => subject.crash?.(inner.get(storage) ?? storage, location),
    }),
    faults: {
      quota: (location) => arm(location, "quota"),
      requestLost: (location) => arm(location, "request lost"),
      responseLost: (location) => arm(location, "response lost"),
      busy: (location) => arm(location, "unavailable"),
      late(location) {
        arm(location, "late")
        return async () => {
          for (const storage of opened.get(location) ?? []) await storage.deliver()
        }
      },
    },
  }
}
