/** A store that fails on demand, below the storage, so that the suite tests how the storage answers. */
import { StorageError } from "@sessions/core/storage"
import { type Location, openStore, type Store } from "../src/store.ts"

export type Fault = "quota" | "requestLost" | "responseLost" | "busy"

/** What the connections to one location share. */
export interface Faults {
  /** Happens to the next commit of lines. */
  armed: Fault | undefined
}

/** A process with a connection. Nothing of a dead one reaches the store. */
export interface Process {
  isDead: boolean
}

export function openWith(faults: Faults, process: Process): (location: Location) => Promise<Store> {
  return async (location) => {
    const store = await openStore(location)
    const alive = (): void => {
      if (process.isDead) throw new StorageError("unavailable", "The process is dead.")
    }
    return {
      async get(key) {
        alive()
        return store.get(key)
      },
      async *rows(from, to, o) {
        alive()
        yield* store.rows(from, to, o)
      },
      async commit(expected, changes) {
        alive()
        const fault = changes.some(({ key }) => key.startsWith("lines/")) ? faults.armed : undefined
        if (fault === undefined) return store.commit(expected, changes)
        faults.armed = undefined
        if (fault === "quota") throw new StorageError("quota", "The store is full.")
        if (fault === "busy") throw new StorageError("unavailable", "The store is busy.")
        if (fault === "responseLost") await store.commit(expected, changes)
        throw new StorageError("indeterminate", "No answer.")
      },
      close: () => store.close(),
    }
  }
}
