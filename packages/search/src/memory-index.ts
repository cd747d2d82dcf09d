/** An index in memory, for tests and for a search that is made once. Each query looks at every row. */
import { createIds } from "@sessions/core/format"
import { StorageError } from "@sessions/core/storage"
import { byNewest, placeAfter, toPlace } from "./places.ts"
import { type IndexedHead, type IndexHit, type IndexRow, isAt, type SearchIndex } from "./search-index.ts"
import { matches } from "./words.ts"

interface IndexedSession {
  readonly head: IndexedHead
  readonly cwd: string | undefined
  readonly rows: readonly IndexRow[]
}

export function createMemoryIndex(): SearchIndex {
  const newEpoch = createIds()
  const sessions = new Map<string, IndexedSession>()
  let epoch = newEpoch()
  let isClosed = false

  const checkOpen = (): void => {
    if (isClosed) throw new StorageError("closed", "The index was closed. Create another one.")
  }
  const heads = (): Map<string, IndexedHead> => new Map([...sessions].map(([id, { head }]) => [id, head]))

  return {
    async heads() {
      checkOpen()
      return { heads: heads(), epoch }
    },
    async write(changes) {
      checkOpen()
      let held = true
      for (const { session, expect, head, reset, cwd, removed, rows } of changes) {
        const known = sessions.get(session)
        if (!isAt(known?.head, expect)) held = false
        else if (head === undefined) sessions.delete(session)
        else {
          const before = reset ? undefined : known
          const kept = (before?.rows ?? []).filter(({ entryId }) => !removed.includes(entryId))
          sessions.set(session, { head, cwd: cwd ?? before?.cwd, rows: [...kept, ...rows] })
        }
      }
      return held
    },
    async query({ words, cwd, role, order, limit, cursor, without }) {
      checkOpen()
      const found: (IndexHit & Pick<IndexRow, "time">)[] = []
      for (const [session, indexed] of sessions) {
        if (without.has(session) || (cwd !== undefined && indexed.cwd !== cwd)) continue
        for (const { words: own, ...row } of indexed.rows) {
          if ((role === undefined || row.role === role) && matches(own, words)) found.push({ session, ...row })
        }
      }
      found.sort(byNewest)
      if (order === "best") found.sort((a, b) => a.text.length - b.text.length)
      const from = cursor === undefined ? 0 : placeAfter(found, order, cursor)
      const page = found.slice(from, from + limit)
      const next =
        from + limit < found.length ? toPlace(page.at(-1) as (typeof page)[number], order, from + limit) : undefined
      const hits: IndexHit[] = page.map(({ session, seq, entryId, role: of, timestamp, text }) => ({
        session,
        seq,
        entryId,
        role: of,
        timestamp,
        text,
      }))
      return { hits, heads: heads(), epoch, ...(next === undefined ? {} : { next }) }
    },
    async purge() {},
    async clear() {
      sessions.clear()
      epoch = newEpoch()
    },
    async close() {
      isClosed = true
      sessions.clear()
    },
  }
}
