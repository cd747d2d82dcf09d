/** Lists sessions, newest first: their order from a listing of the tails, each row from the manifest of its tail. */
import type { HeadInfo, ListedSession } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { type Manifest, tailBytesOf } from "../format/manifest.ts"
import { decodeManifest, isUnreadable, updatedAtOf } from "../format/tail.ts"
import { isTombstone } from "../format/tombstone.ts"
import type { ListedObject } from "../object-store/object-store.ts"
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
): AsyncGenerator<readonly ListedSession[], void, undefined> {
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
    for (const row of rows) if (row !== undefined) deferred.push(row)
    deferred.sort((a, b) => b.updatedAt - a.updatedAt)
    const newest = tails[at] === undefined ? Number.NEGATIVE_INFINITY : secondOf(tails[at] as ListedObject)
    const older = deferred.findIndex(({ updatedAt }) => updatedAt < newest)
    const page = deferred.splice(0, older === -1 ? deferred.length : older)
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

/** Undefined if the session was deleted after the listing. */
async function readRow(
  deps: Deps,
  { key }: ListedObject,
  signal: AbortSignal | undefined,
): Promise<ListedSession | undefined> {
  const session = deps.keys.sessionOfTail(key) as string
  const found = await readManifest(deps, session, signal)
  return found === undefined
    ? undefined
    : { id: session, ...headInfoOf(deps, session, found.manifest, found.lastModified) }
}

/** Reads the manifest without the lines that follow it. */
async function readManifest(
  deps: Deps,
  session: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly manifest: Manifest; readonly lastModified: number } | undefined> {
  const key = deps.keys.tail(session)
  for (let bytes = MANIFEST_BYTES; ; bytes *= 8) {
    try {
      const object = await openObject(deps, key, { range: { from: 0, to: bytes } }, signal)
      if (object === undefined || object === "unchanged") return undefined
      if (isTombstone(object.size)) {
        object.cancel()
        return undefined
      }
      const content = await object.readAll()
      const end = content.indexOf(10)
      if (end === -1 && object.size > content.length) continue
      const manifest = decodeManifest(end === -1 ? content : content.subarray(0, end))
      if (isUnreadable(manifest)) throw unreadableError(deps, session, key, manifest)
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
