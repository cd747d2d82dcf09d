/** Listing sessions, newest first, without opening a log whose row is up to date. */
import { checkSignal, type ListedSession, type ListRange, type Seq } from "@sessions/core/storage"
import type { Environment } from "../environment.ts"
import { errnoOf } from "../errors.ts"
import { toSessionId } from "../disk/ids.ts"
import { below, FIRST_PART, parsePartName, toPartName, toSessionPaths } from "../disk/layout.ts"
import { isFolderOrNothing } from "../disk/small-files.ts"
import { infoIn, type Metadata, type StoredInfo } from "../log/metadata.ts"
import { interruptedSwaps } from "../session/swap.ts"
import { damagedHead } from "../log/damaged.ts"
import { toHeadInfo } from "../log/view.ts"

/** What this storage object knows of a session beyond its files: an `info` that is not written yet. */
export type PendingInfo = (session: string, log: string, next: Seq) => StoredInfo | undefined

/** Rows that are made at once: few enough that the first ones come promptly. */
const PAGE = 32

export async function* listSessions(
  env: Environment,
  { limit, signal }: ListRange,
  pending: PendingInfo,
): AsyncGenerator<readonly ListedSession[], void, undefined> {
  let left = limit
  let page: ListedSession[] = []
  for (const { row, session, updatedAt, size } of left > 0 ? await newestFirst(env, signal, pending) : []) {
    const found = row ?? toRow(env, session, pending, size === undefined ? undefined : { size, updatedAt })
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
  /** Of its first part, as it was then. */
  readonly size: number | undefined
}

/** A part as it was when it was looked at. */
interface SeenPart {
  readonly size: number
  readonly updatedAt: number
}

async function newestFirst(
  env: Environment,
  signal: AbortSignal | undefined,
  pending: PendingInfo,
): Promise<Candidate[]> {
  const rolled = new Set(namesIn(env, env.layout.rolled))
  const aside = interruptedSwaps(namesIn(env, env.layout.fresh)).filter((name) =>
    isFolderOrNothing(env.files, below(env.layout.root, name)),
  )
  for (const name of aside) rolled.add(name)
  const found: Candidate[] = []
  let looked = 0
  for (const name of new Set([...namesIn(env, env.layout.root, true), ...aside])) {
    const session = toSessionId(name)
    if (session === undefined) continue
    const row = rolled.has(name) ? toRow(env, session, pending) : undefined
    const folder = below(env.layout.root, name)
    const first = row === undefined ? partAt(env, folder, FIRST_PART) : undefined
    const updatedAt = (row ?? first ?? damagedHead(env.files, folder))?.updatedAt
    if (updatedAt !== undefined) found.push({ session, updatedAt, row, size: first?.size })
    if (++looked % SLICE > 0) continue
    await new Promise((resolve) => setImmediate(resolve))
    checkSignal(signal)
  }
  return found.sort((a, b) => b.updatedAt - a.updatedAt || (a.session < b.session ? 1 : -1))
}

function partAt(env: Environment, folder: string, name: string): SeenPart | undefined {
  try {
    const stat = env.files.lstat(below(folder, name))
    return stat?.isFile() === true ? { size: stat.size, updatedAt: Math.floor(stat.mtimeMs) } : undefined
  } catch {
    return undefined
  }
}

/** One log that is damaged, or cannot be looked at, must not hide the others, nor be hidden: `head` and `read` say what it is. */
function toRow(env: Environment, session: string, pending: PendingInfo, first?: SeenPart): ListedSession | undefined {
  try {
    return wholeRow(env, session, pending, first)
  } catch {
    const head = damagedHead(env.files, toSessionPaths(env.layout, session).folder)
    return head === undefined ? undefined : { id: session, ...head }
  }
}

function wholeRow(
  env: Environment,
  session: string,
  pending: PendingInfo,
  first: SeenPart | undefined,
): ListedSession | undefined {
  const { folder } = toSessionPaths(env.layout, session)
  const metadata = env.metadata.read(folder)
  const row = metadata === undefined ? undefined : storedRow(env, folder, metadata, first)
  const found = row ?? viewRow(env, session)
  if (found === undefined) return undefined
  const info = pending(session, found.log, found.next) ?? infoIn(metadata, found.log, found.next)
  return { id: session, ...found, ...(info === undefined ? {} : { info }) }
}

function viewRow(env: Environment, session: string): Omit<ListedSession, "id" | "info"> | undefined {
  const view = env.view(session)
  return view === undefined ? undefined : toHeadInfo(view)
}

/**
 * The row as `metadata.json` has it, where the last part has just the size that it had then and no other follows it: a file that was
 * put back, copied while the log went on, or written late by a process that stood still, may be older than the part that does.
 */
function storedRow(
  env: Environment,
  folder: string,
  metadata: Metadata,
  first: SeenPart | undefined,
): Omit<ListedSession, "id" | "info"> | undefined {
  const { log, next, bytes, parts } = metadata
  const last = parts[parts.length - 1]
  if (last === undefined || next === 0) return undefined
  const part = (last.name === FIRST_PART ? first : undefined) ?? partAt(env, folder, last.name)
  if (part?.size !== last.bytes) return undefined
  const following = toPartName((parsePartName(last.name)?.number ?? 1) + 1, next).name
  if (env.files.lstat(below(folder, following)) !== undefined) return undefined
  return {
    next,
    log,
    bytes,
    updatedAt: part.updatedAt,
    parts: parts.map((part) => ({ from: part.from, bytes: part.bytes, at: below(folder, part.name) })),
  }
}

function* namesIn(env: Environment, folder: string, folders = false): Generator<string> {
  let entries: ReturnType<typeof env.files.readdir>
  try {
    entries = env.files.readdir(folder)
  } catch (error) {
    // Nothing there is no session; a file in a folder's place is a mistake that must be told.
    if (errnoOf(error) === "ENOENT") return
    throw env.error(error, "list the sessions", undefined, folder)
  }
  for (const entry of entries) if (!folders || entry.isDirectory()) yield entry.name
}
