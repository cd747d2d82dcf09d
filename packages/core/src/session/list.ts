/** Pages of session information, newest first, without opening a log whose kept information is up to date. */
import { SessionError, hasCode } from "../format/errors.ts"
import { signalOf } from "../storage/checks.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { isCurrent, storedInfo } from "../info/store.ts"
import { toSessionInfo } from "../info/projection.ts"
import type { InfoProjection, SessionInfo } from "../info/projection.ts"
import { notFound } from "../log/loaded-log.ts"
import type { OpeningOptions } from "./open.ts"
import { infoOfStored } from "./stored-info.ts"
import type { ListOptions, SessionPage } from "./types.ts"

/** `not_found` where there is no such session; `not_a_session` where its log is something else. */
export async function sessionInfo(
  storage: SessionStorage,
  id: string,
  options: OpeningOptions,
  o: CallOptions = {},
): Promise<SessionInfo> {
  const head = await storage.head(id, o)
  if (head === undefined) throw notFound(storage, id)
  return infoOf(storage, id, head, options, o)
}

/** Logs as they were at some time: more than anybody pages through. What is forgotten is looked at again. */
const SORT_KEYS_KEPT = 10_000

/** Where sessions stood when they were last looked at, by what their logs were then. */
export type KnownSortKeys = Map<string, SortKey>

/** `known`: what earlier pages have found. Of a session that stands before the cursor nothing else is needed. */
export async function listSessions(
  storage: SessionStorage,
  options: OpeningOptions,
  known: KnownSortKeys,
  o: ListOptions,
): Promise<SessionPage> {
  const { limit = 50 } = o
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) {
    throw new SessionError("invalid", `limit must be a whole number from 1 to 200, not ${String(limit)}.`)
  }
  const after = o.cursor === undefined ? undefined : parseCursor(o.cursor)
  const signal = signalOf(o)
  const newestFirst = storage.capabilities.listOrder === "updatedAt"
  const rows: SessionInfo[] = []
  const unreadable: { id: string; error: unknown }[] = []
  for await (const { id, ...head } of storage.list(signal)) {
    // lastMessageAt is never later than updatedAt, so once the page is full of newer ones no row further on can belong to it.
    if (newestFirst && rows.length > limit && head.updatedAt < timeOf(rows[limit] as SessionInfo)) break
    const log = `${id}/${head.log}/${head.next}/${head.updatedAt}`
    const place = known.get(log)
    if (after !== undefined && place !== undefined && compare(place, after) <= 0) continue
    try {
      const info = await infoOf(storage, id, head, options, signal)
      known.set(log, { id, lastMessageAt: info.lastMessageAt })
      if (known.size > SORT_KEYS_KEPT) known.clear()
      if (matches(info, o) && (after === undefined || compare(info, after) > 0)) insert(rows, info, limit)
    } catch (error) {
      if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
      if (hasCode(error, "unavailable") && !(await isInReach(storage, options, signal))) throw error
      // Deleted between the listing and here: not a session any more. Anything else is told of, and hides nothing else.
      if (!hasCode(error, "not_found")) unreadable.push({ id, error })
    }
  }
  const sessions = rows.slice(0, limit)
  const last = sessions.at(-1)
  return { sessions, ...(rows.length > limit && last !== undefined ? { next: cursorOf(last) } : {}), unreadable }
}

/** Whether it is the one session that cannot be had, or the storage: asked for another, which nobody made, it answers in one look. */
async function isInReach(storage: SessionStorage, { newId }: OpeningOptions, o: CallOptions): Promise<boolean> {
  try {
    await storage.head(newId(), o)
    return true
  } catch (error) {
    if (hasCode(error, "unavailable")) return false
    throw error
  }
}

/** How often a log that is replaced under its reader is looked at again. */
const TRIES = 3

async function infoOf(
  storage: SessionStorage,
  id: string,
  listed: HeadInfo,
  options: OpeningOptions,
  o: CallOptions,
): Promise<SessionInfo> {
  let head = listed
  for (let attempt = 1; ; attempt++) {
    try {
      return toSessionInfo(id, await projectionOf(storage, id, head, options, o), head)
    } catch (error) {
      if (!hasCode(error, "conflict") || attempt === TRIES) throw error
      const now = await storage.head(id, o)
      if (now === undefined) throw notFound(storage, id)
      head = now
    }
  }
}

/** The stored projection if it is current. */
async function projectionOf(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  const kept = await storedInfo(storage, id, head, o)
  if (kept !== undefined && isCurrent(kept, head)) return kept
  return infoOfStored(storage, id, head, kept, options, o)
}

function matches(info: SessionInfo, o: ListOptions): boolean {
  const parent = info.parentSession
  return (
    (o.cwd === undefined || info.cwd === o.cwd) &&
    (o.source === undefined || info.source === o.source) &&
    (o.parent === undefined || (parent !== undefined && "id" in parent && parent.id === o.parent))
  )
}

type SortKey = Pick<SessionInfo, "lastMessageAt" | "id">

/** Negative where `a` stands before `b`: newer first, then the greater id. */
function compare(a: SortKey, b: SortKey): number {
  const newer = timeOf(b) - timeOf(a)
  return newer === 0 ? (a.id === b.id ? 0 : a.id > b.id ? -1 : 1) : newer
}

/** Keeps one more than the page, which tells whether there is a next one. */
function insert(rows: SessionInfo[], info: SessionInfo, limit: number): void {
  let at = rows.length
  while (at > 0 && compare(rows[at - 1] as SessionInfo, info) > 0) at--
  rows.splice(at, 0, info)
  if (rows.length > limit + 1) rows.pop()
}

function timeOf({ lastMessageAt }: SortKey): number {
  return Date.parse(lastMessageAt)
}

function cursorOf({ lastMessageAt, id }: SortKey): string {
  return `${lastMessageAt}/${id}`
}

function parseCursor(cursor: unknown): SortKey {
  const [lastMessageAt = "", id = "", ...rest] = String(cursor).split("/")
  if (rest.length === 0 && id !== "" && !Number.isNaN(Date.parse(lastMessageAt))) return { lastMessageAt, id }
  throw new SessionError("invalid", `${JSON.stringify(cursor)} is not the cursor of a page; give \`next\` as it came.`)
}
