/** Puts the parts together: what views may do. */
import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import type { EndpointSettings } from "../agent/endpoint.ts"
import { createContext } from "./context.ts"
import { createListing, type Listing } from "./listing.ts"
import { loadEndpoint, saveEndpoint } from "./settings.ts"
import { createShowing, type Showing } from "./shown-session.ts"
import { createStore, type Store } from "./state.ts"
import { createTalking, type Talking } from "./turns.ts"

export interface App extends Omit<Listing, "changed">, Pick<Showing, "show" | "view">, Talking {
  readonly store: Store
  /** Asks the browser to keep what is stored. */
  readonly keep: () => Promise<void>
  readonly useEndpoint: (endpoint: EndpointSettings | undefined) => Promise<void>
}

/** `openId`: of the session that will be shown first. */
export function createApp(openId: string | undefined): App {
  const storage = createIndexedDbStorage({ database: "browser-agent" })
  const sessions = createSessions({ storage })
  const store = createStore({
    sessions: undefined,
    more: false,
    openId,
    conversation: undefined,
    turns: new Map(),
    elsewhere: false,
    compacting: false,
    notice: undefined,
    endpoint: loadEndpoint(),
    estimate: undefined,
    kept: false,
  })
  const context = createContext(sessions, storage, store)
  const { changed, ...listing } = createListing(context)
  const refresh = async (): Promise<void> => {
    await listing.refresh()
    await weigh()
  }
  const showing = createShowing(context, () => void refresh())
  const talking = createTalking(context, showing, { ...listing, changed })

  async function weigh(): Promise<void> {
    store.set({ estimate: await storage.estimate(), kept: await storage.persisted() })
  }

  return {
    store,
    ...listing,
    ...talking,
    refresh,
    show: showing.show,
    view: showing.view,
    async keep() {
      const kept = await storage.persist()
      const text =
        "The browser did not promise it. Chromium decides by how much you use this site; installing or bookmarking it helps."
      store.set({ kept, ...(kept ? {} : { notice: { kind: "done" as const, text } }) })
    },
    async useEndpoint(endpoint) {
      saveEndpoint(endpoint)
      store.set({ endpoint })
      // Opened anew: a handle has its summarizer and its window from the start.
      await showing.show(store.get().openId)
    },
  }
}
