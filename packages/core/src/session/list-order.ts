/** Which sessions a list shows, the order of its pages, and their cursors. Pure. */
import { SessionError } from "../format/errors.ts"
import { isSameJson } from "../format/json.ts"
import type { SessionInfo } from "../info/projection.ts"
import { firstNot } from "../log/id-index.ts"
import { toTime } from "../storage/clock.ts"
import type { ListOptions, SessionPage } from "./repository-types.ts"

/** The place of a session in the order of pages. */
export type SortKey = Pick<SessionInfo, "lastMessageAt" | "id">

/** Cached sort keys of sessions. The map's key identifies a log in one state (id, log, end, time), so a value is never out of date. */
export type KnownSortKeys = Map<string, SortKey>

export type PageOf<Row> = Omit<SessionPage, "sessions"> & { readonly sessions: readonly Row[] }

/** Negative if `a` sorts before `b`: the newer one first; of equally new ones, the greater id. */
export function compare(a: SortKey, b: SortKey): number {
  const newer = isSortedAsText(a) && isSortedAsText(b) ? compareTexts(b, a) : timeOf(b) - timeOf(a)
  return newer === 0 ? (a.id === b.id ? 0 : a.id > b.id ? -1 : 1) : newer
}

/** Times of the years 0 to 9999. A list of 1,000 sessions makes 20,000 comparisons, and reading a time takes ten times as long as comparing it. */
function isSortedAsText({ lastMessageAt }: SortKey): boolean {
  return lastMessageAt.length === 24
}

function compareTexts({ lastMessageAt: one }: SortKey, { lastMessageAt: other }: SortKey): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** How many of the places, which are in order, are not behind this one. */
export function placeIn(places: readonly SortKey[], place: SortKey): number {
  return firstNot(places.length, (index) => compare(places[index] as SortKey, place) <= 0)
}

/** Inserts in sort order. Keeps one row more than the page has: it shows that there is a next page. */
export function insert<Row extends SortKey>(rows: Row[], row: Row, limit: number): void {
  rows.splice(placeIn(rows, row), 0, row)
  if (rows.length > limit + 1) rows.pop()
}

/** The page that begins with rows of {@link insert}. */
export function pageIn<Row extends SortKey>(
  rows: readonly Row[],
  limit: number,
): Pick<PageOf<Row>, "sessions" | "next"> {
  const sessions = rows.slice(0, limit)
  const last = rows.length > limit ? sessions.at(-1) : undefined
  return { sessions, ...(last && { next: cursorOf(last) }) }
}

export function timeOf({ lastMessageAt }: SortKey): number {
  return Date.parse(lastMessageAt)
}

export function cursorOf({ lastMessageAt, id }: SortKey): string {
  return `${lastMessageAt}/${id}`
}

export function parseCursor(cursor: unknown): SortKey {
  const [lastMessageAt = "", id = "", ...rest] = String(cursor).split("/")
  const time = toTime(lastMessageAt)
  if (rest.length === 0 && id !== "" && time !== undefined) return { lastMessageAt: time, id }
  throw new SessionError("invalid", `${JSON.stringify(cursor)} is not the cursor of a page; give \`next\` as it came.`)
}

export function matches(info: SessionInfo, o: ListOptions): boolean {
  const parent = info.parentSession
  return (
    (o.cwd === undefined || info.cwd === o.cwd) &&
    (o.source === undefined || info.source === o.source) &&
    (o.kind === undefined || (info.kind ?? null) === o.kind) &&
    hasMetadata(info, o.metadata ?? {}) &&
    (o.parent === undefined || (parent !== undefined && "id" in parent && parent.id === o.parent))
  )
}

function hasMetadata({ metadata }: SessionInfo, wanted: object): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(metadata, key) && isSameJson(metadata[key], value),
  )
}
