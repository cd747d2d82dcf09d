/**
 * Brings the sessions here and on a server to the same state, in both directions. Entries are merged by `mergeSession`, which needs no
 * server while they are made. What `mergeSession` leaves to its caller is done here: sessions that only one side has are new there, or were deleted
 * on the other side. The document `synced` tells which: it has the heads of both logs after their last merge.
 */
import { createSessions, hasCode, type Sessions } from "@sessions/core"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { copySession, mergeSession } from "@sessions/core/transfer"

export interface SyncResult {
  /** Entries and whole sessions that this side got or gave, and sessions that were deleted on one side. 0: both were the same. */
  readonly changes: number
  /** Sessions that could not be merged; the others were. */
  readonly failed: readonly { readonly id: string; readonly error: unknown }[]
}

/** The heads of both logs when they had the same entries. */
interface Pair {
  readonly here: Head
  readonly there: Head
}

interface Synced {
  /** The identity of the server's storage. Another one, such as an empty folder, has deleted nothing. */
  readonly server: string
  readonly sessions: Readonly<Record<string, Pair>>
}

/** In the page's storage. */
const SYNCED = "synced"
/** In the server's storage. */
const IDENTITY = "identity"

/** Rejects if the server is not reached (`unavailable`) or the browser stores nothing; what was merged by then is whole. */
export async function syncSessions(sessions: Sessions, server: SessionStorage): Promise<SyncResult> {
  const { storage } = sessions
  const remote = createSessions({ storage: server })
  const identity = await identityOf(server)
  const known = (await storage.docs.get(SYNCED))?.text
  const before = known === undefined ? undefined : (JSON.parse(known) as Synced)
  const pairs = new Map(Object.entries(before?.server === identity ? before.sessions : {}))
  const failed: SyncResult["failed"][number][] = []
  // One that cannot be read is not missing.
  const unreadable = (id: string, error: unknown): void => void failed.push({ id, error })
  const [here, there] = [await headsOf(storage, unreadable), await headsOf(server, unreadable)]
  const skipped = new Set(failed.map(({ id }) => id))
  let changes = 0
  for (const id of new Set([...here.keys(), ...there.keys(), ...pairs.keys()])) {
    if (skipped.has(id)) continue
    try {
      const { pair, changed } = await syncOne(sessions, remote, id, {
        here: here.get(id),
        there: there.get(id),
        last: pairs.get(id),
      })
      changes += changed
      if (pair === undefined) pairs.delete(id)
      else pairs.set(id, pair)
    } catch (error) {
      // The others would fail in the same way.
      if (STOPS.some((code) => hasCode(error, code))) throw error
      failed.push({ id, error })
    }
  }
  const text = JSON.stringify({ server: identity, sessions: Object.fromEntries(pairs) } satisfies Synced)
  if (text !== known) await putDocument(storage, SYNCED, text)
  return { changes, failed }
}

const STOPS = ["unavailable", "quota", "unsupported", "aborted"] as const

interface Sides {
  readonly here: Head | undefined
  readonly there: Head | undefined
  readonly last: Pair | undefined
}

interface Outcome {
  /** Undefined if the session is on neither side. */
  readonly pair: Pair | undefined
  readonly changed: number
}

async function syncOne(sessions: Sessions, remote: Sessions, id: string, sides: Sides): Promise<Outcome> {
  const { here, there, last } = sides
  if (here !== undefined && there !== undefined) {
    if (isSame(here, last?.here) && isSame(there, last?.there)) return { pair: last, changed: 0 }
    return await merged(sessions, remote, id)
  }
  if (here !== undefined) {
    if (isSame(here, last?.here)) {
      // It was deleted on another device, and nothing was added here since.
      await sessions.delete(id)
      return { pair: undefined, changed: 1 }
    }
    // It is new, or has entries that the device which deleted it did not know: then it is kept, on all devices.
    await copied(sessions, id, remote.storage)
    return await merged(sessions, remote, id, 1)
  }
  if (there !== undefined) {
    if (isSame(there, last?.there)) {
      await remote.delete(id)
      return { pair: undefined, changed: 1 }
    }
    await copied(remote, id, sessions.storage)
    return await merged(sessions, remote, id, 1)
  }
  return { pair: undefined, changed: 0 }
}

/** Merges until nothing is left to do, so that the heads before the last merge are those of the same entries. */
async function merged(sessions: Sessions, remote: Sessions, id: string, done = 0): Promise<Outcome> {
  let changed = done
  for (;;) {
    const [here, there] = [await sessions.storage.head(id), await remote.storage.head(id)]
    // Deleted meanwhile; the next time decides.
    if (here === undefined || there === undefined) return { pair: undefined, changed }
    const { sent, received } = await mergeSession(sessions, id, remote.storage)
    changed += sent + received
    const [hereNow, thereNow] = [await sessions.storage.head(id), await remote.storage.head(id)]
    if (isSame(here, hereNow) && isSame(there, thereNow))
      return { pair: { here: toHead(here), there: toHead(there) }, changed }
  }
}

/** `exists` and `conflict`: another tab has copied it meanwhile, and the merge does the rest. */
async function copied(from: Sessions, id: string, to: SessionStorage): Promise<void> {
  await copySession(from, id, to).catch((error: unknown) => {
    if (!hasCode(error, "exists") && !hasCode(error, "conflict")) throw error
  })
}

async function headsOf(
  storage: SessionStorage,
  unreadable: (id: string, error: unknown) => void,
): Promise<Map<string, Head>> {
  const heads = new Map<string, Head>()
  for await (const row of storage.list()) {
    if (row.error === undefined) heads.set(row.id, row)
    else unreadable(row.id, row.error)
  }
  return heads
}

async function identityOf(server: SessionStorage): Promise<string> {
  const found = await server.docs.get(IDENTITY)
  if (found !== undefined) return found.text
  await server.docs.put(IDENTITY, randomId(), { expect: null }).catch((error: unknown) => {
    if (!hasCode(error, "conflict")) throw error
  })
  return (await server.docs.get(IDENTITY))?.text ?? ""
}

/** Pages without https have no `crypto.randomUUID`. */
function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-")
}

/** The last writer wins: what another tab noted is as true, and found again by the next merge. */
async function putDocument(storage: SessionStorage, name: string, text: string): Promise<void> {
  const { version = null } = (await storage.docs.get(name)) ?? {}
  await storage.docs.put(name, text, { expect: version }).catch((error: unknown) => {
    if (!hasCode(error, "conflict")) throw error
  })
}

function isSame(one: Head | undefined, other: Head | undefined): boolean {
  return one !== undefined && one.next === other?.next && one.log === other.log
}

function toHead({ next, log }: Head): Head {
  return { next, log }
}
