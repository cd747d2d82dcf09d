/** Listing sessions, newest first, without opening a log whose row is up to date. */
import { checkSignal, type ListedSession, type ListRange, type Seq } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { errnoOf } from "../disk/errors.ts"
import { toSessionId } from "../disk/file-names.ts"
import { below, FIRST_PART, parsePartName, toPartName, toSessionPaths } from "../disk/layout.ts"
import { isFolderOrNothing } from "../disk/small-files.ts"
import { infoIn, type Metadata, type StoredInfo } from "../log/metadata.ts"
import { interruptedSwaps } from "../disk/swap.ts"
import { damagedHead } from "../log/damaged.ts"
import { toHeadInfo } from "../log/view.ts"

/** What this storage object knows of a session beyond its files: an `info` that is not written yet. */
export type PendingInfo = (session: string, log: string, next: Seq) => StoredInfo | undefined

/** Rows that are made at once: few enough that the first ones come promptly. */
const PAGE = 32

export async function* listSessions(
  deps: Deps,
  { limit, signal }: ListRange,
  pending: PendingInfo,
): AsyncGenerator<readonly ListedSession[], void, undefined> {
  let left = limit
  let page: ListedSession[] = []
  for (const { row, session } of left > 0 ? await newestFirst(deps, signal, pending) : []) {
    const found = row ?? toRow(deps, session, pending)
    if (found !== undefined) page.push(found)
    if (page.length < Math.min(PAGE, left)) continue
    yield page
    left -= page.length
    if (left <= 0) return
    page = []
  }
  yield page
}

/** After so many files looked at, others get their turn. */
const SLICE = 500

interface Candidate {
  readonly session: string
  readonly updatedAt: number
  readonly row: ListedSession | undefined
}

async function newestFirst(deps: Deps, signal: AbortSignal | undefined, pending: PendingInfo): Promise<Candidate[]> {
  const rolled = new Set(namesIn(deps, deps.layout.rolled))
  const aside = interruptedSwaps(namesIn(deps, deps.layout.fresh)).filter((name) =>
    isFolderOrNothing(deps.files, below(deps.layout.root, name)),
  )
  for (const name of aside) rolled.add(name)
  const found: Candidate[] = []
  let looked = 0
  for (const name of new Set([...namesIn(deps, deps.layout.root, true), ...aside])) {
    const session = toSessionId(name)
    if (session === undefined) continue
    const row = rolled.has(name) ? toRow(deps, session, pending) : undefined
    const updatedAt = row?.updatedAt ?? touchedAt(deps, name)
    if (updatedAt !== undefined) found.push({ session, updatedAt, row })
    if (++looked % SLICE > 0) continue
    await new Promise((resolve) => setImmediate(resolve))
    checkSignal(signal)
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.session < b.session ? 1 : -1))
}

function touchedAt(deps: Deps, name: string): number | undefined {
  const folder = below(deps.layout.root, name)
  try {
    const stat = deps.files.lstat(below(folder, FIRST_PART))
    return stat?.isFile() === true ? Math.floor(stat.mtimeMs) : damagedHead(deps.files, folder)?.updatedAt
  } catch {
    return damagedHead(deps.files, folder)?.updatedAt
  }
}

/** One log that is damaged, or cannot be looked at, must not hide the others, nor be hidden: `head` and `read` say what it is. */
function toRow(deps: Deps, session: string, pending: PendingInfo): ListedSession | undefined {
  try {
    return wholeRow(deps, session, pending)
  } catch {
    const head = damagedHead(deps.files, toSessionPaths(deps.layout, session).folder)
    return head === undefined ? undefined : { id: session, ...head }
  }
}

function wholeRow(deps: Deps, session: string, pending: PendingInfo): ListedSession | undefined {
  const { folder } = toSessionPaths(deps.layout, session)
  const metadata = deps.metadata.read(folder)
  const row = metadata === undefined ? undefined : storedRow(deps, folder, metadata)
  const found = row ?? viewRow(deps, session)
  if (found === undefined) return undefined
  const info = pending(session, found.log, found.next) ?? infoIn(metadata, found.log, found.next)
  return { id: session, ...found, ...(info === undefined ? {} : { info }) }
}

function viewRow(deps: Deps, session: string): Omit<ListedSession, "id" | "info"> | undefined {
  const view = deps.view(session)
  return view === undefined ? undefined : toHeadInfo(view)
}

/**
 * The row as `metadata.json` has it, where the last part has just the size that it had then and no other follows it: a file that was
 * put back, copied while the log went on, or written late by a process that stood still, may be older than the part that does.
 */
function storedRow(deps: Deps, folder: string, metadata: Metadata): Omit<ListedSession, "id" | "info"> | undefined {
  const { log, next, bytes, parts } = metadata
  const last = parts[parts.length - 1]
  const stat = last === undefined ? undefined : deps.files.lstat(below(folder, last.name))
  if (stat === undefined || stat.size !== last?.bytes || next === 0) return undefined
  const following = toPartName((parsePartName(last.name)?.number ?? 1) + 1, next).name
  if (deps.files.lstat(below(folder, following)) !== undefined) return undefined
  return {
    next,
    log,
    bytes,
    updatedAt: Math.floor(stat.mtimeMs),
    parts: parts.map((part) => ({ from: part.from, bytes: part.bytes, at: below(folder, part.name) })),
  }
}

function* namesIn(deps: Deps, folder: string, folders = false): Generator<string> {
  let entries: ReturnType<typeof deps.files.readdir>
  try {
    entries = deps.files.readdir(folder)
  } catch (error) {
    // Nothing there is no session; a file in a folder's place is a mistake that must be told.
    if (errnoOf(error) === "ENOENT") return
    throw deps.error(error, "list the sessions", undefined, folder)
  }
  for (const entry of entries) if (!folders || entry.isDirectory()) yield entry.name
}
