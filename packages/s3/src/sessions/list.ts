/** Lists sessions, newest first: their order from a listing of the tails, each row from the manifest of its tail. */
import { type AdapterListRow, type HeadInfo, type ListedSession, StorageError } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { type Manifest, tailBytesOf } from "../format/manifest.ts"
import { broken, checkTailBytes, decodeManifest, isUnreadable, updatedAtOf } from "../format/tail.ts"
import { isTombstone } from "../format/tombstone.ts"
import { type ListedObject, ObjectStoreError } from "../object-store/object-store.ts"
import { toStorageError } from "../requests/errors.ts"
import { listObjects } from "../requests/objects.ts"
import { ObjectChangedError, openObject } from "../requests/open-object.ts"
import { segmentKey } from "../segments/segments.ts"
import { unreadableError } from "../tail/tail-cache.ts"

/** Enough for the manifest of a session of some hundred megabytes with the longest `info`. */
const MANIFEST_BYTES = 32_768
const PARALLEL_READS = 16

export async function* listSessions(
  deps: Deps,
  limit: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly AdapterListRow[], void, undefined> {
  const tails = (await listObjects(deps, deps.keys.tails, signal)).filter(
    ({ key, size }) => !isTombstone(size) && deps.keys.sessionOfTail(key) !== undefined,
  )
  tails.sort((a, b) => secondOf(b) - secondOf(a) || (a.key < b.key ? 1 : -1))
  // The tail written last need not have the newest append: a row is deferred until no later one can be newer.
  const deferred: ListedSession[] = []
  let listed = 0
  for (let at = 0; at < tails.length && listed < limit; ) {
    // As many as were consumed so far: reads ahead without reading much in vain, and never beyond the limit.
    const width = Math.min(PARALLEL_READS, Math.max(1, listed), limit - listed)
    const rows = await Promise.all(tails.slice(at, at + width).map((tail) => readRow(deps, tail, signal)))
    at += width
    const unreadable: AdapterListRow[] = []
    for (const row of rows) {
      if (row?.error !== undefined) unreadable.push(row)
      else if (row !== undefined) deferred.push(row)
    }
    deferred.sort((a, b) => b.updatedAt - a.updatedAt)
    const newest = tails[at] === undefined ? Number.NEGATIVE_INFINITY : secondOf(tails[at] as ListedObject)
    const older = deferred.findIndex(({ updatedAt }) => updatedAt < newest)
    // An unreadable tail has no time of its last append, so its row is not deferred.
    const page = [...unreadable, ...deferred.splice(0, older === -1 ? deferred.length : older)]
    listed += page.length
    yield page
  }
}

export function headInfoOf(deps: Deps, session: string, manifest: Manifest, lastModified: number): HeadInfo {
  const { next, log, bytes, info, from, segments, generation } = manifest
  const tail = { from, bytes: tailBytesOf(manifest), at: deps.keys.tail(session) }
  const sealed = segments.map((segment) => ({
    from: segment.from,
    bytes: segment.bytes,
    at: segmentKey(deps, session, generation, segment),
  }))
  return {
    next,
    log,
    bytes,
    updatedAt: updatedAtOf(manifest, lastModified),
    ...(segments.length > 0 && { parts: tail.bytes === 0 ? sealed : [...sealed, tail] }),
    ...(info !== undefined && { info }),
  }
}

/** Undefined if the session was deleted after the listing. Rejects only if the store does not answer. */
async function readRow(
  deps: Deps,
  { key, size }: ListedObject,
  signal: AbortSignal | undefined,
): Promise<AdapterListRow | undefined> {
  const session = deps.keys.sessionOfTail(key) as string
  try {
    const found = await readManifest(deps, session, size, signal)
    return found === undefined
      ? undefined
      : { id: session, ...headInfoOf(deps, session, found.manifest, found.lastModified) }
  } catch (error) {
    if (error instanceof StorageError && isOfOneTail(error)) return { id: session, error }
    throw error
  }
}

/** Not an error of the store as a whole. A store denies or refuses a single object that it archived, or encrypted with another key. */
function isOfOneTail({ code, cause }: StorageError): boolean {
  if (code === "corrupt" || code === "unsupported") return true
  return cause instanceof ObjectStoreError && ["denied", "refused", "archived"].includes(cause.failure)
}

/** Reads the manifest without the lines that follow it; `corrupt` if their bytes are not as many as it says. */
async function readManifest(
  deps: Deps,
  session: string,
  size: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly manifest: Manifest; readonly lastModified: number } | undefined> {
  const key = deps.keys.tail(session)
  for (let bytes = MANIFEST_BYTES; ; bytes *= 8) {
    try {
      // S3 answers a range of an empty object with 416.
      const range = size === 0 ? {} : { range: { from: 0, to: bytes } }
      const object = await openObject(deps, key, range, signal)
      if (object === undefined || object === "unchanged") return undefined
      if (isTombstone(object.size)) {
        object.cancel()
        return undefined
      }
      const content = await object.readAll()
      const end = content.indexOf(10)
      if (end === -1 && object.size > content.length) continue
      const manifest = end === -1 ? broken("it has no manifest") : decodeManifest(content.subarray(0, end))
      if (isUnreadable(manifest)) throw unreadableError(deps, session, key, manifest)
      const lines = checkTailBytes(manifest, object.size - end - 1)
      if (lines !== undefined) throw unreadableError(deps, session, key, lines)
      return { manifest, lastModified: object.lastModified }
    } catch (error) {
      // The tail was replaced: read the manifest of the new one.
      if (error instanceof ObjectChangedError) continue
      throw toStorageError(deps, error, `read the manifest of ${session}`, { session, at: key })
    }
  }
}

function secondOf({ lastModified }: ListedObject): number {
  return Math.floor(lastModified / 1000) * 1000
}
