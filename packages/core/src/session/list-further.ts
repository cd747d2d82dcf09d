/**
 * Further pages of many sessions. One reading of the storage's list finds the places of the sessions of many pages, and each reading goes
 * twice as far as the one before: all pages together cost about what two lists cost, whatever a storage does for a list.
 *
 * A page has the sessions at their places in the reading, as they are now: a session that got a message since is neither hidden nor shown
 * twice. One that comes to have a place behind the cursor while a reading serves is on none of its pages.
 */
import type { SessionInfo } from "../info/projection.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { signalOf } from "../storage/signals.ts"
import {
  compare,
  cursorOf,
  insert,
  type KnownSortKeys,
  matches,
  pageIn,
  type PageOf,
  parseCursor,
  placeIn,
  type SortKey,
} from "./list-order.ts"
import type { ListOptions, SessionPage } from "./repository-types.ts"

/** Sessions that come one after the other in the order of pages. */
interface Reading {
  /** Where they begin. */
  readonly after: SortKey
  readonly places: readonly SortKey[]
  /** Whether no session comes behind them. */
  readonly isWhole: boolean
  /** In ms, by the repository's clock. */
  readonly until: number
  /** How many of them pages have come to. */
  used: number
}

/** State of a repository for its lists. */
export interface Lists {
  readonly storage: SessionStorage
  readonly known: KnownSortKeys
  /** The last reading with each filter, since the last first page. */
  readonly readings: Map<string, Reading>
  readonly now: () => number
  readonly infoOf: (id: string, head: HeadInfo, o: CallOptions) => Promise<SessionInfo>
  /** See `list.ts`. */
  readonly readPage: <Row extends SortKey>(o: ListOptions, toRow: (info: SessionInfo) => Row) => Promise<PageOf<Row>>
}

/** Bounds how much older than its page a reading may be. */
const KEPT_MS = 60_000

/** Bounds the memory of all readings but the newest one. */
const PLACES_KEPT = 100_000

/** A page of further sessions: from the last reading, else from a new one. */
export async function listFurther(
  { storage, now, readings, infoOf, readPage }: Lists,
  o: ListOptions,
): Promise<SessionPage> {
  const after = parseCursor(o.cursor)
  const { limit = 50, cursor: _, signal: __, ...filter } = o
  const name = JSON.stringify(filter)
  const infoAt = async ({ id }: SortKey): Promise<SessionInfo | undefined> => {
    const head = await storage.head(id, signalOf(o))
    const info = head && (await infoOf(id, head, signalOf(o)))
    return info && matches(info, o) ? info : undefined
  }
  const last = readings.get(name)
  const isLeft = last !== undefined && now() < last.until && compare(last.after, after) <= 0
  // The storage's list says what is wrong with a session.
  const page = isLeft ? await pageOf(last, after, limit, infoAt).catch(() => undefined) : undefined
  if (page !== undefined) return { ...page, unreadable: [] }
  const ahead = Math.max(4 * limit, 2 * (last?.used ?? 0))
  const found: SessionInfo[] = []
  const {
    sessions: places,
    next,
    unreadable,
  } = await readPage({ ...o, limit: ahead }, (info) => {
    insert(found, info, limit)
    return placeOf(info)
  })
  keep(readings, name, { after, places, isWhole: next === undefined, until: now() + KEPT_MS, used: found.length })
  return { ...pageIn(found, limit), unreadable }
}

/** The page behind a place; undefined if the reading does not have all of it. */
async function pageOf(
  reading: Reading,
  after: SortKey,
  limit: number,
  infoAt: (place: SortKey) => Promise<SessionInfo | undefined>,
): Promise<Pick<SessionPage, "sessions" | "next"> | undefined> {
  const { places, isWhole } = reading
  const found: { readonly place: SortKey; readonly info: SessionInfo }[] = []
  let at = placeIn(places, after)
  if (!isWhole && places.length - at <= limit) return undefined
  // Sessions that are gone, or do not match any more, leave room for more.
  for (; found.length <= limit && at < places.length; at += limit + 1) {
    const wanted = places.slice(at, at + limit + 1)
    const infos = await Promise.all(wanted.map(infoAt))
    for (const [index, place] of wanted.entries()) {
      const info = infos[index]
      if (info !== undefined && found.length <= limit) found.push({ place, info })
    }
  }
  if (!isWhole && found.length <= limit) return undefined
  reading.used = Math.max(reading.used, at)
  const shown = found.slice(0, limit)
  const end = found.length > limit ? shown.at(-1) : undefined
  return { sessions: shown.map(({ info }) => info), ...(end && { next: cursorOf(end.place) }) }
}

function placeOf({ id, lastMessageAt }: SessionInfo): SortKey {
  return { id, lastMessageAt }
}

function keep(readings: Lists["readings"], name: string, reading: Reading): void {
  readings.delete(name)
  readings.set(name, reading)
  let sum = 0
  for (const [other, { places }] of [...readings].toReversed()) {
    sum += places.length
    if (sum > PLACES_KEPT && other !== name) readings.delete(other)
  }
}
