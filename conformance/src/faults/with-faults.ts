/** Adds the suite's faults to a subject, by wrapping its storages. */
import type { SessionStorage } from "@sessions/core/storage"
import type { Subject } from "../subject.ts"
import { createFaultyStorage, type Fault, type FaultyStorage } from "./faulty-storage.ts"

/**
 * The subject with every fault that can be injected above the adapter. It tests code that uses the storage. How the adapter itself
 * handles failures of its store is tested only by faults that are injected below it.
 */
export function withFaults<L extends object>(subject: Subject<L>): Subject<L> {
  const opened = new WeakMap<L, FaultyStorage[]>()
  const inner = new WeakMap<SessionStorage, SessionStorage>()

  const arm = (location: L, fault: Fault): void => {
    // The next append may use any storage on the location, and only that append fails.
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
