/** What the handler and the client of a storage agree on, beside the routes: content types, and how lines travel in a body. */
import type { Head } from "@sessions/core/storage"

/** Lines of a log, and rows of a list: each ends with LF. */
export const LINES_TYPE = "application/x-ndjson"
export const BLOB_TYPE = "application/octet-stream"

/** The first line of the body of an append, before the lines themselves: 8 KB of `info` fit no header. */
export interface AppendHead {
  readonly expect: 0 | Head
  /** How many lines follow, so that a body that was cut off is noticed. */
  readonly lines: number
  readonly info?: string
}

/** The first line of a page of a read. */
export interface PageHead {
  /** Seq of the first line. */
  readonly from: number
  /** How many lines follow. */
  readonly lines: number
  /** Seq after the last line of the read, fixed by its first page. */
  readonly end: number
  /** Null if there is no session. */
  readonly log: string | null
}

/** Bytes of lines in a page, unless its last chunk is longer. */
export const PAGE_BYTES = 1_000_000
/** Of the further pages of a read: fewer requests. No page has more, whatever was asked for. Answers of Lambda have at most 6 MB. */
export const FURTHER_PAGE_BYTES = 4_000_000

/** The last row of a list: a list without it was cut off. */
export const LAST_ROW = '{"end":true}'

/** The code of the 404 for a missing blob. Any other 404 is that of a wrong URL. */
export const NO_SUCH_BLOB = "no_such_blob"

// `fatal`: U+FFFD would replace other bytes. `ignoreBOM`: a BOM would vanish.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Throws a TypeError if the bytes are not UTF-8. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** A body: the head as one line of JSON, then the lines. */
export function linesBody(head: AppendHead, lines: readonly string[]): string {
  return `${JSON.stringify(head)}\n${lines.join("\n")}\n`
}

/** The events of a watch. */
export const WATCH_EVENTS = { changed: "head", deleted: "deleted" } as const
