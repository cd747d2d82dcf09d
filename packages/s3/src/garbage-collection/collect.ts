/**
 * Clears away what no tail names: segments of appends that lost a race or died, and what a deletion left.
 *
 * A segment that no tail names may be about to be named. So its possible writers are kept out first: the tail is written anew,
 * with a higher `fence`, if it is still the one that was looked at. A write that was under way then fails, and its writer makes
 * its segments again, under other names.
 */
import type { Environment } from "../base/deps.ts"
import type { TailHost } from "../tail/replace-tail.ts"
import { replaceTail } from "../tail/replace-tail.ts"
import { removeObjects } from "../segments/segments.ts"
import { storageError } from "../requests/errors.ts"
import { collectKeys, listAll } from "../requests/list-objects.ts"
import type { ListedObject } from "../object-store/object-store.ts"
import type { Manifest } from "../format/manifest.ts"
import type { Tail } from "../format/tail.ts"
import { encodeTail, lifeOf, updatedAtOf } from "../format/tail.ts"
import { createTombstone } from "../format/tombstone.ts"
import { createToken } from "../base/time.ts"
import type { Turn } from "../tail/write-lock.ts"

export interface Collected {
  readonly objects: number
  readonly bytes: number
}

/** Ids of sessions that have, or had, more than a tail. */
export async function sessionsWithObjects(env: Environment, signal: AbortSignal | undefined): Promise<Set<string>> {
  const sessions = new Set<string>()
  for (const prefix of [env.keys.segments, env.keys.sessionDocs]) {
    for await (const { key } of listAll(env, prefix, signal)) {
      const session = env.keys.partsOf(key)?.session
      if (session !== undefined) sessions.add(session)
    }
  }
  return sessions
}

export async function collectSession(host: TailHost, session: string, turn: Turn): Promise<Collected> {
  const { env } = host
  const candidates = [
    ...(await collectKeys(env, env.keys.segmentsOf(session), turn.signal)),
    ...(await collectKeys(env, env.keys.docsOf(session), turn.signal)),
  ]
  let orphans: ListedObject[] = []
  const token = createToken(env.time)
  await replaceTail(
    host,
    session,
    "collect what is left over of",
    turn,
    async (tail) => {
      orphans = orphansAmong(env, session, tail, candidates)
      return orphans.length === 0 ? undefined : fenceOf(host, session, tail, token)
    },
    // Written twice at worst, which keeps out as well as once.
    () => false,
  )
  await removeObjects(
    env,
    orphans.map(({ key }) => key),
  )
  return { objects: orphans.length, bytes: orphans.reduce((sum, { size }) => sum + size, 0) }
}

function orphansAmong(
  env: Environment,
  session: string,
  tail: Tail,
  candidates: readonly ListedObject[],
): ListedObject[] {
  const life = lifeOf(tail)
  const named = new Set(tail.kind === "live" ? tail.manifest.segments.map(({ name }) => name) : [])
  return candidates.filter(({ key }) => {
    const parts = env.keys.partsOf(key)
    if (parts === undefined || parts.session !== session) return false
    if (parts.life !== life) return true
    return key.startsWith(env.keys.segments) && !named.has(parts.name)
  })
}

async function fenceOf(
  { env, comparing }: TailHost,
  session: string,
  tail: Tail,
  token: string,
): Promise<{ readonly bytes: Uint8Array; readonly etags: Manifest["etags"]; asTail(etag: string): Tail }> {
  const etags = tail.kind === "live" ? tail.manifest.etags : await comparing.known()
  if (etags === "none") {
    const message = `What is left over of ${session} cannot be collected: this store cannot keep writers out meanwhile.`
    throw storageError(env, "unsupported", message, { session })
  }
  if (tail.kind !== "live") {
    const { life } = tail
    const made = tail.kind === "gone" ? tail.made : token
    return {
      bytes: createTombstone({ life, token, made }),
      etags,
      asTail: (etag) => ({ kind: "gone", etag, life, made }),
    }
  }
  const { lines, lastModified = 0 } = tail
  const manifest = { ...tail.manifest, fence: tail.manifest.fence + 1, at: updatedAtOf(tail.manifest, lastModified) }
  return {
    bytes: encodeTail(manifest, lines),
    etags,
    asTail: (etag) => ({ kind: "live", etag, manifest, lines }),
  }
}
