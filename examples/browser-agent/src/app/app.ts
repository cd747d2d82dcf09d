/** The actions that views may call, assembled from the other files. */
import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import type { EndpointSettings } from "../agent/endpoint.ts"
import { createContext } from "./context.ts"
import { createListing, type Listing } from "./listing.ts"
import { createPrompts, type Prompts } from "./prompts.ts"
import { loadEndpoint, saveEndpoint } from "./settings.ts"
import { createFinding, type Finding } from "./search.ts"
import { createShownSession, type ShownSession } from "./shown-session.ts"
import { createStore, type Store } from "./state.ts"
import { createSyncing, type Syncing } from "./sync.ts"
import { createTurns, type Turns } from "./turns.ts"

export interface App
  extends Omit<Listing, "changed" | "onChanged">,
    Pick<ShownSession, "show" | "view" | "goTo" | "settle">,
    Turns,
    Prompts,
    Finding,
    Syncing {
  readonly store: Store
  /** Asks the browser not to clear the stored sessions. */
  readonly persist: () => Promise<void>
  readonly useEndpoint: (endpoint: EndpointSettings | undefined) => Promise<void>
}

/** @param openId the session that is shown first */
export function createApp(openId: string | undefined): App {
  const storage = createIndexedDbStorage({ database: "browser-agent" })
  const sessions = createSessions({ storage })
  const store = createStore({
    sessions: undefined,
    more: false,
    found: undefined,
    openId,
    conversation: undefined,
    turns: new Map(),
    runsElsewhere: false,
    compacting: false,
    notice: undefined,
    endpoint: loadEndpoint(),
    estimate: undefined,
    persisted: false,
    sync: { kind: "off" },
  })
  const context = createContext(sessions, storage, store)
  const { changed, onChanged, ...listing } = createListing(context)
  const refresh = async (): Promise<void> => {
    await listing.refresh()
    await updateEstimate()
  }
  const shown = createShownSession(context, () => void refresh())
  const prompts = createPrompts(context)
  const turns = createTurns(context, shown, { changed }, prompts)
  const finding = createFinding(context, shown)
  const syncing = createSyncing(context, { changed }, onChanged)

  async function updateEstimate(): Promise<void> {
    store.set({ estimate: await storage.estimate(), persisted: await storage.persisted() })
  }

  return {
    store,
    ...listing,
    ...turns,
    ...finding,
    ...syncing,
    olderPrompt: prompts.olderPrompt,
    refresh,
    show: shown.show,
    view: shown.view,
    goTo: shown.goTo,
    settle: shown.settle,
    async remove(id) {
      // Closed before, so that the deletion is not taken for one by another tab.
      const isShown = store.get().openId === id
      if (isShown) await shown.show(undefined)
      const removed = await listing.remove(id)
      if (isShown && !removed) await shown.show(id)
      return removed
    },
    async persist() {
      const persisted = await storage.persist()
      const text =
        "The browser did not promise it. Chromium decides by how much you use this site; installing or bookmarking it helps."
      store.set({ persisted, ...(persisted ? {} : { notice: { kind: "done" as const, text } }) })
    },
    async useEndpoint(endpoint) {
      saveEndpoint(endpoint)
      store.set({ endpoint })
      // Reopens the session: its summarizer and window are set when it is opened.
      await shown.show(store.get().openId)
    },
  }
}
