/** Reads and lists in pages, for stores that return some rows at a time. No cursor or transaction is held between two pages. */
import { utf8Length } from "./utf8.ts"
import { type Chunk, type Head, type HeadInfo, MAX_CHUNK_BYTES, type Seq } from "./contract.ts"
import { StorageError, hasStorageCode } from "./errors.ts"
import { isError } from "./realm.ts"
import { rangeIn } from "./head.ts"
import type { AdapterListRow, MaybePromise, StorageAdapter } from "./adapter.ts"

/** Returns lines from `from` to `to` (exclusive), at most one chunk of them; none if the session no longer has this log. */
export type LinesPage = (session: string, log: string, from: number, to: number) => MaybePromise<readonly string[]>

/** Returns the first seq of a window, by {@link windowStart}; `before` if the session no longer has this log. */
export type FindWindow = (session: string, log: string, before: Seq, maxBytes: number) => MaybePromise<Seq>

/** The `read` of a store that keeps its lines by seq. */
export function readPages(
  head: (session: string) => MaybePromise<Head | undefined>,
  page: LinesPage,
  findWindow: FindWindow,
): StorageAdapter["read"] {
  return async function* read(session, range) {
    const stored = await head(session)
    let { from, to } = rangeIn(range, stored)
    if (stored === undefined || from >= to) return
    const { log } = stored
    if (range.maxBytes !== undefined) from = await findWindow(session, log, to, range.maxBytes)
    if (from >= to) throw deletedLogError()
    while (from < to) {
      const lines = await page(session, log, from, to)
      if (lines.length === 0) throw deletedLogError()
      yield { from, lines }
      from += lines.length
    }
  }
}

/**
 * The lines from `from` to `to` (exclusive), in log order or newest first, one loaded after the other; none if the session no longer has
 * this log. A line that cannot be decoded throws `corrupt`. Called once for each chunk and window with the whole rest of the range, and left
 * when there is enough, so lines must be loaded as they are asked for.
 */
export type LineRows = (
  session: string,
  log: string,
  range: { readonly from: number; readonly to: number; readonly newestFirst: boolean },
) => AsyncIterable<string>

/** {@link readPages} for a store whose driver loads rows asynchronously: one function finds the lines of pages and of windows. */
export function readRows(
  head: (session: string) => MaybePromise<Head | undefined>,
  rows: LineRows,
): StorageAdapter["read"] {
  return readPages(
    head,
    async (session, log, from, to) => {
      const taken: string[] = []
      let bytes = 0
      for await (const line of rows(session, log, { from, to, newestFirst: false })) {
        bytes += utf8Length(line) + 1
        if (bytes > MAX_CHUNK_BYTES && taken.length > 0) break
        taken.push(line)
      }
      return taken
    },
    async (session, log, before, maxBytes) => {
      const window = openWindow(before, maxBytes)
      try {
        for await (const line of rows(session, log, { from: 0, to: before, newestFirst: true }))
          if (!window.take(line)) break
      } catch (error) {
        window.endAt(error)
      }
      return window.from
    },
  )
}

function deletedLogError(): StorageError {
  return new StorageError("conflict", "The log was deleted or replaced while it was read; read it again.")
}

/**
 * The first seq of a window. `lines` are the lines before `before`, newest first; the window has as many of them as fit `maxBytes`, and
 * at least one. At most one more line is taken from the iterator. A line that throws `corrupt` ends the window; if it is the newest, the
 * error is thrown.
 */
export function windowStart(lines: Iterable<string>, before: Seq, maxBytes: number): Seq {
  const window = openWindow(before, maxBytes)
  try {
    for (const line of lines) if (!window.take(line)) break
  } catch (error) {
    window.endAt(error)
  }
  return window.from
}

function openWindow(before: Seq, maxBytes: number) {
  let bytes = 0
  const window = {
    from: before,
    /** Returns whether the window may have an older line, too. */
    take(line: string): boolean {
      bytes += utf8Length(line) + 1
      if (bytes > maxBytes && window.from < before) return false
      window.from--
      return bytes < maxBytes
    },
    /** The next line could not be loaded. */
    endAt(error: unknown): void {
      if (window.from === before || !hasStorageCode(error, "corrupt")) throw error
    },
  }
  return window
}

/** A step in reading a window, for stores that keep bytes. `damage`: lines before this chunk are not UTF-8; the chunk may be empty. */
export interface WindowStep {
  readonly chunk: Chunk
  readonly damage?: Error | undefined
}

/**
 * The steps of a window after the last damage; throws the damage if no line comes after it. A window of at most one chunk is buffered
 * until all of it has been read, a larger one until its first line: damage after that is thrown.
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

/** Takes the lines of one chunk. At most one more line is taken from the iterator. */
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

/** The row of a session in a listing. If its head cannot be read, that is in its row, so that the session hides no other. */
export function toListRow(id: string, head: () => HeadInfo): AdapterListRow {
  try {
    return { id, ...head() }
  } catch (error) {
    return { id, error: isError(error) ? error : new Error(String(error)) }
  }
}

/**
 * The `list` of a store that keeps its sessions by id. `page` returns at most `limit` sessions after `after`, in ascending order; it is called
 * until it returns none.
 */
export function listPages(
  page: (after: string, limit: number) => MaybePromise<readonly AdapterListRow[]>,
): StorageAdapter["list"] {
  return async function* list({ after, limit }) {
    for (let last: string | undefined = after; last !== undefined; ) {
      const rows = await page(last, Math.min(limit, PAGE))
      yield rows
      last = rows.at(-1)?.id
    }
  }
}

/** Sessions of one page: with 8 KB of info each, 8 MB. */
const PAGE = 1000
