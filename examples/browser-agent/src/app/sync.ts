/**
 * Keeps the sessions of this browser and of a server the same, whenever the server can be reached. The page never waits for it: all that it
 * shows and writes is in IndexedDB. Its code is loaded when sync is switched on.
 */
import type { SessionStorage } from "@sessions/core/storage"
import { hasCode } from "@sessions/core"
import type { Context } from "./context.ts"
import type { Listing } from "./listing.ts"
import { loadServer, saveServer, type Server } from "./settings.ts"
import type { SyncState } from "./state.ts"

export interface Syncing {
  /** Undefined ends it; what is here and on the server stays. */
  readonly useServer: (server: Server | undefined) => Promise<void>
  /** Resolves when this and an earlier call have ended. */
  readonly sync: () => Promise<void>
}

/** What other devices did is asked for this often while the page is visible. */
const EVERY_MS = 30_000
/** After a change here; more changes within this time go with it. */
const SOON_MS = 500

export function createSyncing(
  { sessions, store }: Context,
  listing: Pick<Listing, "changed">,
  onLocalChange: (listener: () => void) => void,
): Syncing {
  let connected: Promise<SessionStorage> | undefined
  /** The status of the answer to the last request; 0 without one. */
  let status = 0
  let last = Promise.resolve()
  let soon: ReturnType<typeof setTimeout> | undefined

  async function connect({ url, token }: Server): Promise<SessionStorage> {
    const { connectHttpStorage } = await import("@sessions/http/client")
    return connectHttpStorage({
      url,
      headers: { authorization: `Bearer ${token}` },
      async fetch(to, init) {
        status = 0
        const response = await fetch(to, init)
        status = response.status
        return response
      },
    })
  }

  async function run(): Promise<void> {
    const server = loadServer()
    if (server === undefined) return store.set({ sync: { kind: "off" } })
    store.set({ sync: { kind: "running" } })
    try {
      const { syncSessions } = await import("../sessions/sync.ts")
      connected ??= connect(server)
      const there = await connected
      const { changes, failed } = await alone(() => syncSessions(sessions, there))
      if (changes > 0) await listing.changed()
      const [first] = failed
      store.set({ sync: first === undefined ? doneNow() : { kind: "failed", text: textOf(first.error, first.id) } })
    } catch (error) {
      connected = undefined
      if (status === 401 || status === 403)
        store.set({ sync: { kind: "failed", text: "The server refuses the token." } })
      else if (status === 0 && hasCode(error, "unavailable")) store.set({ sync: { kind: "offline" } })
      else store.set({ sync: { kind: "failed", text: textOf(error) } })
    }
  }

  function sync(): Promise<void> {
    clearTimeout(soon)
    soon = undefined
    last = last.then(run)
    return last
  }

  const isVisible = (): boolean => document.visibilityState === "visible"
  addEventListener("online", () => void sync())
  document.addEventListener("visibilitychange", () => isVisible() && void sync())
  setInterval(() => isVisible() && void sync(), EVERY_MS)
  // Another tab has switched it on or off.
  addEventListener("storage", () => {
    connected = undefined
    void sync()
  })
  onLocalChange(() => (soon ??= setTimeout(() => void sync(), SOON_MS)))

  return {
    sync,
    async useServer(server) {
      saveServer(server)
      connected = undefined
      await sync()
    },
  }
}

/** One tab at a time: the others find that nothing is left to do. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const locks: LockManager | undefined = navigator.locks
  return locks === undefined ? work() : await locks.request("sync", work)
}

function doneNow(): SyncState {
  return { kind: "done", at: new Date().toISOString() }
}

function textOf(error: unknown, session?: string): string {
  const message = error instanceof Error ? error.message : String(error)
  return session === undefined ? message : `The session ${session} is not on both sides: ${message}`
}
