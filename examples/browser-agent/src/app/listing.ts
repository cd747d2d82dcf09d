/** The list of sessions, and what is done to a session as a whole. */
import type { SessionInfo } from "@sessions/core"
import { save, titleOf } from "./files.ts"
import type { Context } from "./context.ts"

export interface Listing {
  /** Reads the list again. */
  readonly refresh: () => Promise<void>
  /** The same, here and in other tabs: something has changed. */
  readonly changed: () => Promise<void>
  readonly showMore: () => Promise<void>
  readonly rename: (id: string, title: string) => Promise<void>
  readonly remove: (id: string) => Promise<boolean>
  /** A new session with all that was said up to the entry; gives its id. */
  readonly fork: (id: string, at: string | null) => Promise<string | undefined>
  /** Gives the id of the last one that could be taken. */
  readonly importFiles: (files: readonly File[]) => Promise<string | undefined>
  readonly exportFile: (info: SessionInfo) => Promise<void>
}

const PAGE = 50

export function createListing({ sessions, store, attempt }: Context): Listing {
  // `watch` tells of one session. That the list has changed, tabs tell each other.
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("browser-agent")
  channel?.addEventListener("message", () => void refresh())
  let limit = PAGE

  async function refresh(): Promise<void> {
    await attempt("list the sessions", async () => {
      const all: SessionInfo[] = []
      let cursor: string | undefined
      do {
        const page = await sessions.list({
          limit: Math.min(200, limit - all.length),
          ...(cursor === undefined ? {} : { cursor }),
        })
        all.push(...page.sessions)
        cursor = page.next
      } while (cursor !== undefined && all.length < limit)
      store.set({ sessions: all, more: cursor !== undefined })
    })
  }

  async function changed(): Promise<void> {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel takes none; it reaches its own origin only.
    channel?.postMessage("changed")
    await refresh()
  }

  return {
    refresh,
    changed,
    async showMore() {
      limit += PAGE
      await refresh()
    },
    async rename(id, title) {
      await attempt("rename the session", () => sessions.rename(id, title.trim() === "" ? null : title.trim()))
      await changed()
    },
    async remove(id) {
      const deleted = await attempt("delete the session", () => sessions.delete(id))
      await changed()
      return deleted !== undefined
    },
    async fork(id, at) {
      const fork = await attempt("fork the session", async () => {
        const session = await sessions.fork(id, at === null ? {} : { at })
        const { title, firstPrompt } = await session.info()
        await session.title(`${title ?? firstPrompt ?? "Session"} (fork)`.slice(0, 120))
        await session.close()
        return session.id
      })
      await changed()
      return fork
    },
    async importFiles(files) {
      let last: string | undefined
      for (const file of files) {
        // Read twice: once to see what it is, once to write it. So no file has to fit into memory.
        const imported = await attempt(`import ${file.name}`, () => sessions.import(() => chunksOf(file)))
        last = imported?.id ?? last
      }
      await changed()
      return last
    },
    async exportFile(info) {
      await attempt("export the session", async () => {
        const pieces: string[] = []
        for await (const piece of sessions.export(info.id, { selfContained: true })) pieces.push(piece)
        save(pieces, `${titleOf(info)}.jsonl`)
      })
    },
  }
}

/** Not every browser can iterate a stream. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = file.stream().getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}
