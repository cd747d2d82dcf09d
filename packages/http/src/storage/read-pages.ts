/** Reads a log page by page. Each page is decoded as it arrives, and given to the caller when it is known to be whole. */
import { type CheckedRange, type Chunk, hasStorageCode, MAX_CHUNK_BYTES, StorageError } from "@sessions/core/storage"
import { collectPieces } from "../bytes.ts"
import { decode, FURTHER_PAGE_BYTES, type PageHead } from "./protocol.ts"
import { isCount } from "./read-answer.ts"
import type { Ask, Requests } from "./requests.ts"

interface Page extends PageHead {
  readonly chunks: readonly Chunk[]
}

/** A page on its way. Its head comes first, so that the server can collect the next page while this one is sent and decoded. */
interface Fetch {
  readonly head: Promise<PageHead>
  readonly page: Promise<Page>
}

type Query = NonNullable<Ask["query"]>

/** Attempts at a page. Core repeats a whole read, but not one of which it has lines. */
const TRIES = 3
const PAUSE_MS = 200

/**
 * At most one page is ahead of the caller. After several pages the log is asked for once more: the last page may have been fetched before the
 * log was deleted.
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
  const fetchPage: FetchPage = (query, onHead) =>
    send({ path, query, signal: either }, (response, alive) => receive(response, alive, onHead))

  const end = to === Number.MAX_SAFE_INTEGER ? undefined : to
  const range = maxBytes === undefined ? { from, to: end } : { before: end, maxBytes }
  try {
    let current = begin((onHead) => fetchPage({ ...range, log }, onHead))
    for (let pages = 1; ; pages++) {
      const expected = nextOf(await current.head)
      let following = expected === undefined ? undefined : fetchNext(fetchPage, await current.head, expected)
      const page = await current.page
      const next = nextOf(page)
      // The page was cut off behind its head, and its repetition has another number of lines.
      if (next !== expected) following = next === undefined ? undefined : fetchNext(fetchPage, page, next)
      yield* page.chunks
      if (following === undefined) {
        if (pages > 1) await again(() => fetchPage({ from: page.end, to: page.end, log: page.log ?? "" }, ignore))
        return
      }
      current = following
    }
  } finally {
    stopped.abort()
  }
}

type FetchPage = (query: Query, onHead: (head: PageHead) => void) => Promise<Page>

function begin(fetch: (onHead: (head: PageHead) => void) => Promise<Page>): Fetch {
  let onHead: (head: PageHead) => void = ignore
  const first = new Promise<PageHead>((resolve) => (onHead = resolve))
  const page = fetch(onHead)
  const head = Promise.race([first, page])
  // The caller may stop before it awaits them.
  page.catch(ignore)
  head.catch(ignore)
  return { head, page }
}

function ignore(): void {}

/** The seq behind the page; undefined if it is the last one. */
function nextOf({ from, lines, end }: PageHead): number | undefined {
  const next = from + lines
  return next < end ? next : undefined
}

function fetchNext(fetchPage: FetchPage, { end, log }: PageHead, from: number): Fetch {
  const query = { from, to: end, log: log ?? "", pageBytes: FURTHER_PAGE_BYTES }
  return begin((onHead) =>
    again(async () => {
      const page = await fetchPage(query, (head) => {
        check(head)
        onHead(head)
      })
      check(page)
      return page
    }),
  )
  function check(page: PageHead): void {
    if (page.from === from && page.lines > 0 && page.log === log) return
    throw new StorageError(
      "unavailable",
      "The server sent another page than the one that was asked for; repeat the call.",
    )
  }
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

const LF = 10

/** Decodes the lines as they arrive. Throws if the page is not whole. */
async function receive(response: Response, alive: () => void, onHead: (head: PageHead) => void): Promise<Page> {
  const chunks: Chunk[] = []
  let head: PageHead | undefined
  let seq = 0
  /** Bytes behind the last LF. */
  let rest = collectPieces()
  const add = (text: string): void => {
    let lines = text.split("\n")
    if (head === undefined) {
      head = toPageHead(lines[0] ?? "")
      onHead(head)
      seq = head.from
      lines = lines.slice(1)
    }
    if (lines.length > 0) chunks.push({ from: seq, lines })
    seq += lines.length
  }
  const take = (bytes: Uint8Array): void => {
    const last = bytes.lastIndexOf(LF)
    if (last < 0) return rest.add(bytes)
    let at = 0
    if (rest.length > 0) {
      at = bytes.indexOf(LF) + 1
      rest.add(bytes.subarray(0, at - 1))
      add(decode(rest.joined()))
    }
    for (let end: number; at <= last; at = end + 1) {
      end = at + MAX_CHUNK_BYTES > last ? last : bytes.lastIndexOf(LF, at + MAX_CHUNK_BYTES - 1)
      if (end < at) end = bytes.indexOf(LF, at)
      add(decode(bytes.subarray(at, end)))
    }
    rest = collectPieces()
    rest.add(bytes.subarray(at))
  }
  const reader = response.body?.getReader()
  try {
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
      alive()
      take(step.value)
    }
  } finally {
    await reader?.cancel().catch(ignore)
  }
  if (head === undefined || rest.length > 0 || seq !== head.from + head.lines) throw notAPageError()
  return { ...head, chunks }
}

function toPageHead(line: string): PageHead {
  let head: Partial<PageHead> | undefined
  try {
    head = JSON.parse(line) as Partial<PageHead>
  } catch {
    // Whatever answered, it was no storage handler.
  }
  const { from, lines, end, log } = head ?? {}
  const isPage = isCount(from) && isCount(lines) && isCount(end) && (log === null || typeof log === "string")
  if (!isPage) throw notAPageError()
  return { from, lines, end, log }
}

function notAPageError(): StorageError {
  return new StorageError("unavailable", "The answer was cut off, or is that of another server; repeat the call.")
}
