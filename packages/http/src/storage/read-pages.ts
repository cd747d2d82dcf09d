/** Reads a log page by page, and cuts the pages into chunks. */
import { type CheckedRange, type Chunk, hasStorageCode, MAX_CHUNK_BYTES, StorageError } from "@sessions/core/storage"
import { decode, type PageHead } from "./protocol.ts"
import type { Requests } from "./requests.ts"

interface Page extends PageHead {
  readonly bytes: Uint8Array
}

/** Attempts at a page. Core repeats a whole read, but not one of which it has lines. */
const TRIES = 3
const PAUSE_MS = 200

/**
 * While the caller works on a page, the next one is fetched. After several pages the log is asked for once more: the last page may have been
 * fetched before the log was deleted.
 */
export async function* readPages(
  { send }: Requests,
  session: string,
  { from, to, maxBytes, log }: CheckedRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<Chunk, void, undefined> {
  const stopped = new AbortController()
  const either = signal === undefined ? stopped.signal : AbortSignal.any([signal, stopped.signal])
  const path = `/sessions/${session}/lines`
  const fetchPage = (query: Readonly<Record<string, string | number | undefined>>): Promise<Page> =>
    send({ path, query, signal: either }, async (response) => toPage(new Uint8Array(await response.arrayBuffer())))

  const end = to === Number.MAX_SAFE_INTEGER ? undefined : to
  const range = maxBytes === undefined ? { from, to: end } : { before: end, maxBytes }
  try {
    let page = await fetchPage({ ...range, log })
    for (let pages = 1; ; pages++) {
      const next = page.from + page.lines
      const following = next < page.end ? again(() => fetchNext(fetchPage, page, next)) : undefined
      following?.catch(() => undefined)
      yield* chunksOf(page)
      if (following === undefined) {
        if (pages > 1) await again(() => fetchPage({ from: page.end, to: page.end, log: page.log ?? "" }))
        return
      }
      page = await following
    }
  } finally {
    stopped.abort()
  }
}

async function fetchNext(
  fetchPage: (query: Readonly<Record<string, string | number>>) => Promise<Page>,
  { end, log }: Page,
  from: number,
): Promise<Page> {
  const page = await fetchPage({ from, to: end, log: log ?? "" })
  if (page.from === from && page.lines > 0 && page.log === log) return page
  throw new StorageError(
    "unavailable",
    "The server sent another page than the one that was asked for; repeat the call.",
  )
}

async function again<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (attempt === TRIES || !hasStorageCode(error, "unavailable")) throw error
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS * attempt * (0.5 + Math.random())))
    }
  }
}

function toPage(body: Uint8Array): Page {
  const first = body.indexOf(LF)
  let head: Partial<PageHead> | undefined
  try {
    head = JSON.parse(decode(body.subarray(0, first))) as Partial<PageHead>
  } catch {
    // Whatever answered, it was no storage handler.
  }
  const { from, lines, end, log } = head ?? {}
  const bytes = body.subarray(first + 1)
  if (from === undefined || lines === undefined || end === undefined || log === undefined || !isWhole(bytes, lines))
    throw new StorageError("unavailable", "The answer was cut off, or is that of another server; repeat the call.")
  return { from, lines, end, log, bytes }
}

const LF = 10

function isWhole(bytes: Uint8Array, lines: number): boolean {
  let count = 0
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++
  return count === lines && (lines === 0 ? bytes.length === 0 : bytes[bytes.length - 1] === LF)
}

/** Each chunk ends with the last line that fits, or is one longer line. */
function* chunksOf({ from, bytes }: Page): Generator<Chunk> {
  let seq = from
  for (let at = 0; at < bytes.length; ) {
    let last = at + MAX_CHUNK_BYTES < bytes.length ? bytes.lastIndexOf(LF, at + MAX_CHUNK_BYTES - 1) : bytes.length - 1
    if (last < at) last = bytes.indexOf(LF, at)
    const lines = decode(bytes.subarray(at, last)).split("\n")
    yield { from: seq, lines }
    seq += lines.length
    at = last + 1
  }
}
