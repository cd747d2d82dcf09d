/** The sessions, newest first: their order from a listing, what is said of each from the first bytes of its tail. */
import type { HeadInfo, ListedSession } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { toStorageError } from "../requests/errors.ts"
import { collectKeys } from "../requests/list-objects.ts"
import type { ListedObject } from "../object-store/object-store.ts"
import { ChangedObject, openObject } from "../requests/open-object.ts"
import { segmentKey } from "../segments/segments.ts"
import type { Manifest } from "../format/manifest.ts"
import { tailBytesOf } from "../format/manifest.ts"
import { decodeManifest, isUnreadable, updatedAtOf } from "../format/tail.ts"
import { unreadable } from "../tail/tail-cache.ts"
import { isTombstone } from "../format/tombstone.ts"

/** Room for what a manifest holds of a session of some hundred megabytes, with the longest information. */
const MANIFEST_BYTES = 32_768
/** So many manifests are asked for at once, at most. */
const PARALLEL = 16

export async function* listSessions(
  env: Environment,
  limit: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly ListedSession[], void, undefined> {
  const tails = (await collectKeys(env, env.keys.tails, signal)).filter(
    ({ key, size }) => !isTombstone(size) && env.keys.sessionOfTail(key) !== undefined,
  )
  tails.sort((a, b) => secondOf(b) - secondOf(a) || (a.key < b.key ? 1 : -1))
  // What was written last need not have been appended to last: a row waits until no later one can be newer.
  const waiting: ListedSession[] = []
  let given = 0
  for (let at = 0; at < tails.length && given < limit; ) {
    // Whoever has taken some rows is likely to take as many more; nothing is read beyond the limit.
    const width = Math.min(PARALLEL, Math.max(1, given), limit - given)
    const rows = await Promise.all(tails.slice(at, at + width).map((tail) => readRow(env, tail, signal)))
    at += width
    for (const row of rows) if (row !== undefined) waiting.push(row)
    waiting.sort((a, b) => b.updatedAt - a.updatedAt)
    const newest = tails[at] === undefined ? Number.NEGATIVE_INFINITY : secondOf(tails[at] as ListedObject)
    const older = waiting.findIndex(({ updatedAt }) => updatedAt < newest)
    const page = waiting.splice(0, older === -1 ? waiting.length : older)
    given += page.length
    yield page
  }
}

/** What a tail says of its log, as `head` gives it. */
export function headInfoOf(env: Environment, session: string, manifest: Manifest, lastModified: number): HeadInfo {
  const { next, log, bytes, info, from, segments, life } = manifest
  const tail = { from, bytes: tailBytesOf(manifest), at: env.keys.tail(session) }
  const sealed = segments.map((segment) => ({
    from: segment.from,
    bytes: segment.bytes,
    at: segmentKey(env, session, life, segment),
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

/** Undefined where it was deleted since it was listed. */
async function readRow(
  env: Environment,
  { key }: ListedObject,
  signal: AbortSignal | undefined,
): Promise<ListedSession | undefined> {
  const session = env.keys.sessionOfTail(key) as string
  const found = await readManifest(env, session, signal)
  return found === undefined
    ? undefined
    : { id: session, ...headInfoOf(env, session, found.manifest, found.lastModified) }
}

/** The manifest without the lines. */
async function readManifest(
  env: Environment,
  session: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly manifest: Manifest; readonly lastModified: number } | undefined> {
  const key = env.keys.tail(session)
  for (let bytes = MANIFEST_BYTES; ; bytes *= 8) {
    try {
      const object = await openObject(env, key, { range: { from: 0, to: bytes } }, signal)
      if (object === undefined || object === "unchanged") return undefined
      if (isTombstone(object.size)) {
        object.drop()
        return undefined
      }
      const content = await object.whole()
      const end = content.indexOf(10)
      if (end === -1 && object.size > content.length) continue
      const manifest = decodeManifest(end === -1 ? content : content.subarray(0, end))
      if (isUnreadable(manifest)) throw unreadable(env, session, key, manifest)
      return { manifest, lastModified: object.lastModified }
    } catch (error) {
      // Another tail by now: that one's manifest is as good.
      if (error instanceof ChangedObject) continue
      throw toStorageError(env, error, `read the manifest of ${session}`, { session, at: key })
    }
  }
}

function secondOf({ lastModified }: ListedObject): number {
  return Math.floor(lastModified / 1000) * 1000
}
