/** The search over all sessions of this browser. Its code is loaded at the first search. */
import type { Search, SearchHit } from "@sessions/search"
import type { Context } from "./context.ts"
import type { ShownSession } from "./shown-session.ts"

export interface Finding {
  /** Searches while the user types; an empty text ends the search. */
  readonly find: (text: string) => Promise<void>
  /** Shows the branch of a hit. */
  readonly openHit: (hit: SearchHit) => Promise<void>
}

const SHOWN = 30

export function createFinding(
  { storage, store, attempt }: Context,
  shown: Pick<ShownSession, "show" | "view">,
): Finding {
  let search: Promise<Search> | undefined
  /** What was typed last; a search for anything else is not shown any more. */
  let wanted = ""

  async function open(): Promise<Search> {
    const [{ createSearch }, { createIndexedDbIndex }] = await Promise.all([
      import("@sessions/search"),
      import("@sessions/search/indexeddb"),
    ])
    return createSearch({ storage, index: createIndexedDbIndex({ database: "browser-agent-search" }) })
  }

  return {
    async find(text) {
      wanted = text
      if (text.trim() === "") return store.set({ found: undefined })
      const page = await attempt("search the sessions", async () => {
        search ??= open()
        // If its code could not be loaded, the next search tries again.
        search.catch(() => (search = undefined))
        return (await search).search(text, { limit: SHOWN })
      })
      if (page === undefined || text !== wanted) return
      store.set({ found: { hits: page.hits, more: page.next !== undefined } })
    },
    async openHit({ session, entryId }) {
      if (store.get().openId !== session) await shown.show(session)
      await shown.view(entryId)
    },
  }
}
