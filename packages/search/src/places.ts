/** The order of hits and the cursors of pages, for indexes that have all matches at once. */
import { SessionError } from "@sessions/core"
import type { IndexHit, IndexQuery } from "./search-index.ts"

export interface Place extends Pick<IndexHit, "session" | "seq"> {
  readonly time: number
}

/** Newest first; of one time, the greater session id, then the later entry. */
export function byNewest(a: Place, b: Place): number {
  if (a.time !== b.time) return b.time - a.time
  if (a.session !== b.session) return a.session > b.session ? -1 : 1
  return b.seq - a.seq
}

/** The cursor behind a hit: its place, or with `"best"` how many hits were before it. */
export function toPlace({ time, session, seq }: Place, order: IndexQuery["order"], count: number): string {
  return order === "best" ? `best/${count}` : `${time}/${session}/${seq}`
}

/** The index of the first hit behind a cursor. */
export function placeAfter(sorted: readonly Place[], order: IndexQuery["order"], cursor: string): number {
  if (order === "best") return parseBest(cursor)
  const [time, session = "", seq, ...rest] = cursor.split("/")
  const place: Place = { time: Number(time), session, seq: Number(seq) }
  if (rest.length > 0 || !Number.isSafeInteger(place.time) || !Number.isSafeInteger(place.seq))
    throw badCursorError(cursor)
  const at = sorted.findIndex((one) => byNewest(one, place) > 0)
  return at === -1 ? sorted.length : at
}

export function parseBest(cursor: string): number {
  const count = /^best\/(\d{1,9})$/.exec(cursor)?.[1]
  if (count === undefined) throw badCursorError(cursor)
  return Number(count)
}

export function badCursorError(cursor: string): SessionError {
  const message = `${JSON.stringify(cursor.slice(0, 100))} is not the cursor of a page; give \`next\` as it came, with the same options.`
  return new SessionError("invalid", message)
}
