/** The list of sessions, and the actions on whole sessions: rename, delete, fork, import, export. */
import type { SessionInfo } from "@sessions/core"
import { exportSession, forkSession, importSession } from "@sessions/core/transfer"
import { save, titleOf } from "./files.ts"
import type { Context } from "./context.ts"

export interface Listing {
  /** Reads the list again. */
  readonly refresh: () => Promise<void>
  /** Reads the list again, here and in other tabs, after a change. */
  readonly changed: () => Promise<void>
  /** Calls the listener after each change that was made in this tab. */
  readonly onChanged: (listener: () => void) => void
  readonly showMore: () => Promise<void>
  readonly rename: (id: string, title: string) => Promise<void>
  readonly remove: (id: string) => Promise<boolean>
  /** Creates a session with the path up to the entry; resolves to its id. */
  readonly fork: (id: string, at: string | null) => Promise<string | undefined>
  /** Resolves to the id of the last session that could be imported. */
  readonly importFiles: (files: readonly File[]) => Promise<string | undefined>
  readonly exportFile: (info: SessionInfo) => Promise<void>
}

const PAGE = 50

/** Undefined where the browser refuses it, as Firefox does if the user blocks site data. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel("browser-agent")
  } catch {
    return undefined
  }
}

export function createListing({ sessions, store, attempt }: Context): Listing {
  // `watch` reports changes of one session only, so tabs notify each other of changes to the list.
  const channel = openChannel()
  channel?.addEventListener("message", () => void refresh())
  const listeners: (() => void)[] = []
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
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no target, it reaches its own origin only.
    channel?.postMessage("changed")
    for (const listener of listeners) listener()
    await refresh()
  }

  return {
    refresh,
    changed,
    onChanged: (listener) => void listeners.push(listener),
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
        const session = await forkSession(sessions, id, at === null ? {} : { at })
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
        // Reads the file twice, to identify its format and then to write it, so that it need not fit into memory.
        const imported = await attempt(`import ${file.name}`, () => importSession(sessions, () => chunksOf(file)))
        last = imported?.id ?? last
      }
      await changed()
      return last
    },
    async exportFile(info) {
      await attempt("export the session", async () => {
        const chunks: string[] = []
        for await (const chunk of exportSession(sessions, info.id, { selfContained: true })) chunks.push(chunk)
        save(chunks, `${titleOf(info)}.jsonl`)
      })
    },
  }
}

/** Not every browser supports `for await` over a stream. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = file.stream().getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
}
