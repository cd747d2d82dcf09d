/** Which sessions a list shows, the order of its pages, and their cursors. Pure. */
import { SessionError } from "../format/errors.ts"
import { isSameJson } from "../format/json.ts"
import type { SessionInfo } from "../info/projection.ts"
import { firstNot } from "../log/id-index.ts"
import type { ListOptions, SessionPage } from "./repository-types.ts"

/** The place of a session in the order of pages. */
export type SortKey = Pick<SessionInfo, "lastMessageAt" | "id">

/** Cached sort keys of sessions. The map's key identifies a log in one state (id, log, end, time), so a value is never out of date. */
export type KnownSortKeys = Map<string, SortKey>

export type PageOf<Row> = Omit<SessionPage, "sessions"> & { readonly sessions: readonly Row[] }

/** Negative if `a` sorts before `b`: the newer one first; of equally new ones, the greater id. */
export function compare(a: SortKey, b: SortKey): number {
  const newer = timeOf(b) - timeOf(a)
  return newer === 0 ? (a.id === b.id ? 0 : a.id > b.id ? -1 : 1) : newer
}

/** How many of the places, which are in order, are not behind this one. */
export function placeIn(places: readonly SortKey[], place: SortKey): number {
  return firstNot(places.length, (index) => compare(places[index] as SortKey, place) <= 0)
}

export function timeOf({ lastMessageAt }: SortKey): number {
  return Date.parse(lastMessageAt)
}

export function cursorOf({ lastMessageAt, id }: SortKey): string {
  return `${lastMessageAt}/${id}`
}

export function parseCursor(cursor: unknown): SortKey {
  const [lastMessageAt = "", id = "", ...rest] = String(cursor).split("/")
  if (rest.length === 0 && id !== "" && !Number.isNaN(Date.parse(lastMessageAt))) return { lastMessageAt, id }
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
