/** Reading and listing in pages, for stores that give some rows at a time. Nothing is held between two of them. */
import { utf8Length } from "./checks.ts"
import { type Head, type ListedSession, MAX_CHUNK_BYTES } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { rangeIn } from "./head.ts"
import type { StorageAdapter } from "./adapter.ts"

type Given<T> = T | Promise<T>

/** Lines from a seq on, of one chunk at the most, none from `to` on; none at all where the session has not this log any more. */
export type LinesPage = (session: string, log: string, from: number, to: number) => Given<readonly string[]>

/** A `read` of a store that gives its lines by their seqs. */
export function readPages(head: (session: string) => Given<Head | undefined>, page: LinesPage): StorageAdapter["read"] {
  return async function* read(session, range) {
    const { log, next } = (await head(session)) ?? { log: "", next: 0 }
    let { from, to } = rangeIn(range, next)
    while (from < to) {
      const lines = await page(session, log, from, to)
      if (lines.length === 0) {
        throw new StorageError("conflict", "The log was deleted or replaced while it was read; read it anew.")
      }
      yield { from, lines }
      from += lines.length
    }
  }
}

/** As many lines as one chunk holds, and no more taken than the one after them. */
export function takeChunk(lines: Iterable<string>): string[] {
  const taken: string[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += utf8Length(line) + 1
    if (bytes > MAX_CHUNK_BYTES && taken.length > 0) break
    taken.push(line)
  }
  return taken
}

/** A `list` of a store that gives its sessions by their ids: `limit` of those that come after one, in ascending order. */
export function listPages(
  page: (after: string, limit: number) => Given<readonly ListedSession[]>,
): StorageAdapter["list"] {
  return async function* list({ after, limit }) {
    for (let last: string | undefined = after; last !== undefined; ) {
      const rows = await page(last, Math.min(limit, PAGE))
      yield rows
      last = rows.at(-1)?.id
    }
  }
}

/** Sessions of one look: with 8 KB of info each, 8 MB. */
const PAGE = 1000
