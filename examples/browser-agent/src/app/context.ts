/** The dependencies that all actions share. */
import type { Sessions } from "@sessions/core"
import type { IndexedDbStorage } from "@sessions/idb"
import { createEndpoint } from "../agent/endpoint.ts"
import type { Model } from "../agent/model.ts"
import { standIn } from "../agent/stand-in.ts"
import { noticeOf } from "./notices.ts"
import type { Store } from "./state.ts"

export interface Context {
  readonly sessions: Sessions
  readonly storage: IndexedDbStorage
  readonly store: Store
  /** Runs an action; shows a notice if it fails. `doing` completes "Could not …". */
  readonly attempt: <T>(doing: string, work: () => Promise<T>) => Promise<T | undefined>
  readonly model: () => Model
}

export function createContext(sessions: Sessions, storage: IndexedDbStorage, store: Store): Context {
  return {
    sessions,
    storage,
    store,
    async attempt(doing, work) {
      try {
        const result = await work()
        if (store.get().notice?.doing === doing) store.set({ notice: undefined })
        return result
      } catch (error) {
        store.set({ notice: noticeOf(error, doing) })
        return undefined
      }
    },
    model() {
      const { endpoint } = store.get()
      return endpoint === undefined ? standIn : createEndpoint(endpoint)
    },
  }
}
