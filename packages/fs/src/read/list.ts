/** Listing sessions, newest first, without opening a log whose row is up to date. */
import { type AdapterListRow, checkSignal, type ListedSession, type ListRange, type Seq } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { errnoOf } from "../disk/errors.ts"
import { toSessionId } from "../disk/file-names.ts"
import { below, FIRST_PART, type SessionPaths, toSessionPaths } from "../disk/layout.ts"
import { isFolderOrNothing } from "../disk/small-files.ts"
import { infoIn, lastPartOf, type Metadata, type StoredInfo, writeMetadata } from "../log/metadata.ts"
import { statIdentity } from "../log/stat-cache.ts"
import { interruptedSwaps } from "../disk/swap.ts"
import { lastPart, type LogView, toHeadInfo } from "../log/view.ts"

/** Facts that this storage object knows of a session beyond its files: an `info` that is not written yet. */
export type PendingInfo = (session: string, log: string, next: Seq) => StoredInfo | undefined

/** Rows that are made at once: few enough that the first ones come promptly. */
const PAGE = 32

export async function* listSessions(
  deps: Deps,
  { limit, signal }: ListRange,
  pending: PendingInfo,
): AsyncGenerator<readonly AdapterListRow[], void, undefined> {
  let left = limit
  let page: AdapterListRow[] = []
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
  /** Made already if the time of the session is not that of its first part. */
  readonly row: AdapterListRow | undefined
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
    const firstAt = rolled.has(name) ? undefined : firstPartAt(deps, name)
    if (firstAt !== undefined) found.push({ session, updatedAt: firstAt, row: undefined })
    else {
      const row = toRow(deps, session, pending)
      if (row !== undefined) found.push({ session, updatedAt: row.updatedAt ?? folderAt(deps, name), row })
    }
    if (++looked % SLICE > 0) continue
    await new Promise((resolve) => setImmediate(resolve))
    checkSignal(signal)
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.session < b.session ? 1 : -1))
}

/** Undefined if there is no first part, or the folder cannot be read. */
function firstPartAt(deps: Deps, name: string): number | undefined {
  try {
    const stat = deps.files.lstat(below(below(deps.layout.root, name), FIRST_PART))
    return stat?.isFile() === true ? Math.floor(stat.mtimeMs) : undefined
  } catch {
    return undefined
  }
}

function folderAt(deps: Deps, name: string): number {
  try {
    return Math.floor(deps.files.lstat(below(deps.layout.root, name))?.mtimeMs ?? 0)
  } catch {
    return 0
  }
}

/** Undefined if there is no log. What `head` rejects with is in the row: one damaged log must neither hide others nor be hidden. */
function toRow(deps: Deps, session: string, pending: PendingInfo): AdapterListRow | undefined {
  try {
    return wholeRow(deps, session, pending)
  } catch (error) {
    return { id: session, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

function wholeRow(deps: Deps, session: string, pending: PendingInfo): ListedSession | undefined {
  const paths = toSessionPaths(deps.layout, session)
  const metadata = deps.metadata.read(paths.folder)
  const row = metadata === undefined ? undefined : storedRow(deps, paths.folder, metadata)
  const view = row === undefined ? deps.view(session) : undefined
  const found = row ?? (view && toHeadInfo(view))
  if (found === undefined) return undefined
  const info = pending(session, found.log, found.next) ?? infoIn(metadata, found.log, found.next)
  if (view !== undefined) renew(deps, paths, view, info)
  return { id: session, ...found, ...(info === undefined ? {} : { info }) }
}

/**
 * Writes the row of a log that stands still anew: its files were copied, so that the row is no longer of them, or a crash has left it behind.
 * Otherwise every listing would read the log.
 */
function renew({ files, layout }: Deps, paths: SessionPaths, view: LogView, info: StoredInfo | undefined): void {
  const { log, next, bytes, stamp } = view
  // A row with bytes that are no lines is never used. A writer that is at work writes its own.
  const isWhole =
    view.stored && view.torn === 0 && view.parts.every((part) => (part.size ?? part.end.offset) === part.end.offset)
  if (!isWhole || view.folder !== paths.folder || Date.now() - stamp.mtimeMs < STILL_MS) return
  try {
    if (!isFolderOrNothing(files, layout.locks) || files.lstat(paths.lock) !== undefined) return
    const last = files.lstat(below(view.folder, lastPart(view).name))
    if (last?.ino !== stamp.ino || last.mtimeMs !== stamp.mtimeMs || last.size !== stamp.size) return
    const parts = view.parts.map(({ name, from, end }) => ({ name, from, bytes: end.offset }))
    const row = { log, next, bytes, parts, check: stamp.check, ...(info === undefined ? {} : { info }) }
    writeMetadata(files, view.folder, row, last)
  } catch {
    // A store that may only be read: the next listing reads the log again.
  }
}

/** Rows of sessions that are written to are of their writers. */
const STILL_MS = 2_000

/** The row as `metadata.json` has it, if that is of the log's files. */
function storedRow(deps: Deps, folder: string, metadata: Metadata): Omit<ListedSession, "id" | "info"> | undefined {
  const { next, log, bytes, parts } = metadata
  const last = lastPartOf(deps.files, folder, metadata, statIdentity(deps.files, folder))
  if (last === undefined) return undefined
  return {
    next,
    log,
    bytes,
    updatedAt: Math.floor(last.mtimeMs),
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
