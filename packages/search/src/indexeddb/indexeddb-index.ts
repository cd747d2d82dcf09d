/**
 * The index in IndexedDB. MiniSearch is built in memory from the stored rows at the first use, and follows each change, also of other tabs.
 */
import { SessionError } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { checkOptions, createQueue, type OptionNames, StorageError } from "@sessions/core/storage"
import type { SearchIndex } from "../search-index.ts"
import { type Changed, IndexDatabase, type StoredRow, type StoredSession } from "./database.ts"
import { LoadedIndex } from "./loaded-index.ts"

export interface IndexedDbIndexOptions {
  /** The name of the database, default `"@sessions/search"`. Tabs of one origin with the same name share the index. */
  readonly database?: string
}

const OPTIONS: OptionNames<IndexedDbIndexOptions> = { database: true }

/** UTF-16 units after which the page gets its turn while the index is built: some 30 ms. */
const SLICE_UNITS = 128_000

/** Throws `invalid` for unknown options and wrong values; the first call connects. */
export function createIndexedDbIndex(options: IndexedDbIndexOptions = {}): SearchIndex {
  checkOptions("createIndexedDbIndex", options, OPTIONS)
  const { database = "@sessions/search" } = options
  if (typeof database !== "string" || database === "")
    throw new SessionError("invalid", "createIndexedDbIndex: `database` must be a name.")
  const stored = new IndexDatabase(database, createIds())
  let loaded: LoadedIndex | undefined
  let isClosed = false
  const queue = createQueue()

  /** One after the other, so that memory and database change together. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    return queue.run(() => {
      if (isClosed) throw new StorageError("closed", "The index was closed. Create another one.")
      return work()
    })
  }

  /** The index in memory as the database has it now. Rows that cannot be what was written empty the index. */
  async function current(): Promise<LoadedIndex> {
    const state = await stored.state()
    if (loaded !== undefined && state?.epoch === loaded.state.epoch && state.generation === loaded.state.generation)
      return loaded
    const changed = await stored.changedSince(loaded?.state)
    if (loaded?.state.epoch !== changed.state.epoch) loaded = new LoadedIndex(changed.state)
    if (await load(loaded, changed)) return loaded
    loaded = undefined
    await stored.clear()
    return current()
  }

  return {
    heads: () =>
      inOrder(async () => {
        const index = await current()
        return { heads: index.heads(), epoch: index.state.epoch }
      }),

    write: (changes) =>
      inOrder(async () => {
        const { before, after, made } = await stored.write(changes)
        const isFollowed = loaded?.state.epoch === after.epoch && loaded.state.generation === (before?.generation ?? 0)
        if (loaded !== undefined && isFollowed) {
          for (const change of made) loaded.apply(change)
          loaded.state = after
        }
        return made.length === changes.length
      }),

    query: (query) => inOrder(async () => (await current()).query(query)),

    // Removed rows are deleted at once.
    async purge() {},

    clear: () =>
      inOrder(async () => {
        loaded = undefined
        await stored.clear()
      }),

    async close() {
      isClosed = true
      await queue.run(() => undefined)
      loaded = undefined
      await stored.close()
    },
  }
}

/** False if a row cannot be what was written. */
async function load(index: LoadedIndex, { state, ids, sessions, rowsOf }: Changed): Promise<boolean> {
  index.keep(ids)
  let units = 0
  for (const session of sessions) {
    const rows = await rowsOf(session.id)
    if (!isSession(session) || !rows.every(isRow)) return false
    index.set(session.id, session.head, session.cwd, rows)
    for (const { text } of rows) units += text.length
    if (units < SLICE_UNITS) continue
    units = 0
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  index.state = state
  return true
}

function isSession({ head, cwd }: StoredSession): boolean {
  const isEnd = typeof head?.log === "string" && Number.isSafeInteger(head.next) && typeof head.last === "string"
  return (
    isEnd &&
    typeof head.updatedAt === "number" &&
    Number.isSafeInteger(head.extraction) &&
    (cwd === undefined || typeof cwd === "string")
  )
}

function isRow({ entryId, role, timestamp, time, text }: StoredRow): boolean {
  return [entryId, role, timestamp, text].every((one) => typeof one === "string") && typeof time === "number"
}
