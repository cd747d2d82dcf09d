/** Reading and listing in pages, for stores that give some rows at a time. Nothing is held between two of them. */
import { utf8Length } from "./checks.ts"
import { type Chunk, type Head, type ListedSession, MAX_CHUNK_BYTES, type Seq } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { hasStorageCode } from "./errors.ts"
import { rangeIn } from "./head.ts"
import type { StorageAdapter } from "./adapter.ts"

type Given<T> = T | Promise<T>

/** Lines from a seq on, of one chunk at the most, none from `to` on; none at all where the session has not this log any more. */
export type LinesPage = (session: string, log: string, from: number, to: number) => Given<readonly string[]>

/** Where a window of a log begins, by {@link windowStart}; `before` if the session has not this log any more. */
export type FindWindow = (session: string, log: string, before: Seq, maxBytes: number) => Given<Seq>

/** A `read` of a store that gives its lines by their seqs. */
export function readPages(
  head: (session: string) => Given<Head | undefined>,
  page: LinesPage,
  findWindow: FindWindow,
): StorageAdapter["read"] {
  return async function* read(session, range) {
    const stored = await head(session)
    let { from, to } = rangeIn(range, stored)
    if (stored === undefined || from >= to) return
    const { log } = stored
    if (range.maxBytes !== undefined) from = await findWindow(session, log, to, range.maxBytes)
    if (from >= to) throw gone()
    while (from < to) {
      const lines = await page(session, log, from, to)
      if (lines.length === 0) throw gone()
      yield { from, lines }
      from += lines.length
    }
  }
}

function gone(): StorageError {
  return new StorageError("conflict", "The log was deleted or replaced while it was read; read it anew.")
}

/**
 * The seq at which a window begins: of `lines`, which are those before `before`, the newest first, it has as many as come to at most
 * `maxBytes`, and at least one. No more are taken than the one after them. A window ends at a line that throws `corrupt`; the newest
 * one's is thrown.
 */
export function windowStart(lines: Iterable<string>, before: Seq, maxBytes: number): Seq {
  let from = before
  let bytes = 0
  try {
    for (const line of lines) {
      bytes += utf8Length(line) + 1
      if (bytes > maxBytes && from < before) break
      from--
      if (bytes >= maxBytes) break
    }
  } catch (error) {
    if (from === before || !hasStorageCode(error, "corrupt")) throw error
  }
  return from
}

/**
 * The lines of a window as they are read, for stores that keep bytes: `damage` says that lines before these are not UTF-8, and there may
 * be none after them.
 */
export interface WindowStep {
  readonly chunk: Chunk
  readonly damage?: Error | undefined
}

/**
 * The steps of a window from the last damage on; throws that if no line comes after it. A window of at most one chunk is held until all of
 * it has been read, a larger one until its first line: damage after that is thrown.
 */
export async function* afterDamage<T extends WindowStep>(
  steps: AsyncIterable<T>,
  maxBytes: number,
): AsyncGenerator<T, void, undefined> {
  const held: T[] = []
  let damage: Error | undefined
  let hasYielded = false
  for await (const step of steps) {
    if (step.damage !== undefined) {
      if (hasYielded) throw step.damage
      held.length = 0
      damage = step.damage
    }
    if (step.chunk.lines.length === 0) continue
    held.push(step.damage === undefined ? step : { ...step, damage: undefined })
    if (maxBytes <= MAX_CHUNK_BYTES) continue
    hasYielded = true
    yield* held.splice(0)
  }
  if (damage !== undefined && !hasYielded && held.length === 0) throw damage
  yield* held
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
