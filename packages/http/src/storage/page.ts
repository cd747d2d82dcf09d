/** One page of a read: lines from the first one of the range, up to the bytes that were asked for, and 4 MB at most. */
import {
  type Head,
  hasStorageCode,
  type ReadRange,
  type SessionStorage,
  StorageError,
  toUtf8,
} from "@sessions/core/storage"
import { NO_STORE } from "../answers.ts"
import { FURTHER_PAGE_BYTES, LINES_TYPE, type PageHead } from "./protocol.ts"

/** The query of a page: a range of the contract, and the bytes of the page. */
export interface PageQuery {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly before?: number | undefined
  readonly maxBytes?: number | undefined
  readonly log?: string | undefined
  readonly pageBytes: number
}

/** UTF-16 units of a part, unless it is one longer line. */
const PART_UNITS = 32_768

interface Page {
  readonly from: number
  readonly lines: number
  readonly parts: readonly Uint8Array[]
}

/**
 * The page that a query begins with. Its head has the end of the whole read, which the first page fixes: the client asks for the lines
 * behind this page up to there, with the same `log`, so that no page is of another log or of a later append.
 */
export async function readPage(storage: SessionStorage, session: string, query: PageQuery): Promise<Response> {
  const head = await storage.head(session)
  if (query.log !== undefined && head?.log !== query.log)
    throw new StorageError("conflict", "The log was deleted, created again or replaced; read it again without `log`.")
  if (head === undefined) return toResponse({ from: 0, lines: 0, end: 0, log: null }, [])
  const end = Math.min(query.to ?? query.before ?? head.next, head.next)
  // A page is in memory until its client has taken it.
  const pageBytes = Math.min(query.pageBytes, FURTHER_PAGE_BYTES)
  const { from, lines, parts } = await collect(storage, session, rangeOf(query, end, head), pageBytes)
  return toResponse({ from, lines, end: lines === 0 ? from : end, log: head.log }, parts)
}

function rangeOf({ from = 0, maxBytes }: PageQuery, end: number, { log }: Head): ReadRange {
  return maxBytes === undefined ? { from, to: end, log } : { before: end, maxBytes, log }
}

async function collect(storage: SessionStorage, session: string, range: ReadRange, pageBytes: number): Promise<Page> {
  const parts: Uint8Array[] = []
  let from = 0
  let lines = 0
  let bytes = 0
  try {
    for await (const chunk of storage.read(session, range)) {
      if (lines === 0) from = chunk.from
      for (const part of encoded(chunk.lines)) {
        parts.push(part)
        bytes += part.length
      }
      lines += chunk.lines.length
      if (bytes >= pageBytes) break
    }
  } catch (error) {
    // The lines before damage are readable. The next page begins at the damage.
    if (lines === 0 || !hasStorageCode(error, "corrupt")) throw error
  }
  return { from, lines, parts }
}

/**
 * The lines as bytes, in parts of which neither text nor bytes are large to the engine: each of those gets memory of its own from the system,
 * and that took half of the time of a read.
 */
function* encoded(lines: readonly string[]): Generator<Uint8Array> {
  let from = 0
  let units = 0
  for (const [index, line] of lines.entries()) {
    units += line.length + 1
    if (units < PART_UNITS && index < lines.length - 1) continue
    yield toUtf8(`${lines.slice(from, index + 1).join("\n")}\n`)
    from = index + 1
    units = 0
  }
}

/** A stream of the parts as they are: one array would copy them, and a Blob reads them in a thread of its own. */
function toResponse(head: PageHead, lines: readonly Uint8Array[]): Response {
  const parts = [toUtf8(`${JSON.stringify(head)}\n`), ...lines].values()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
  return new Response(body, { headers: { "content-type": LINES_TYPE, ...NO_STORE } })
}
