/**
 * Garbage collection: removes segments that no tail names and the objects of generations that were deleted.
 *
 * A writer may be about to name a segment that no tail names yet. Before it removes any, the collector therefore rewrites the tail
 * with a higher `fence`, if the tail has not changed since it was read. The conditional write of such a writer then fails, and it
 * writes its segments again under other names.
 */
import type { Deps } from "../base/deps.ts"
import { createToken } from "../base/time.ts"
import { encodeTail, generationOf, type Tail, updatedAtOf } from "../format/tail.ts"
import { createTombstone } from "../format/tombstone.ts"
import type { ListedObject } from "../object-store/object-store.ts"
import { storageError } from "../requests/errors.ts"
import { iterateObjects, listObjects, removeObjects } from "../requests/objects.ts"
import { type Replacement, replaceTail } from "../tail/replace-tail.ts"
import type { TailDeps } from "../tail/tail-deps.ts"
import type { WriteLock } from "../tail/write-lock.ts"

/** Objects removed, and their size. */
export interface Collected {
  readonly objects: number
  readonly bytes: number
  /** Objects that the store did not remove; collect again. */
  readonly left: number
  /** Old tombstones that stay because the store has no conditional DELETE. */
  readonly tombstones: number
}

/** Ids of the sessions, deleted ones included, that have segments or documents. */
export async function sessionsWithObjects(deps: Deps, signal: AbortSignal | undefined): Promise<Set<string>> {
  const sessions = new Set<string>()
  for (const prefix of [deps.keys.segments, deps.keys.sessionDocs]) {
    for await (const { key } of iterateObjects(deps, prefix, signal)) {
      const session = deps.keys.partsOf(key)?.session
      if (session !== undefined) sessions.add(session)
    }
  }
  return sessions
}

/** With `dryRun` nothing is written, and the result is what would be removed. */
export async function collectSession(
  deps: TailDeps,
  session: string,
  lock: WriteLock,
  dryRun: boolean,
): Promise<Collected> {
  const candidates = [
    ...(await listObjects(deps, deps.keys.segmentsOf(session), lock.signal)),
    ...(await listObjects(deps, deps.keys.docsOf(session), lock.signal)),
  ]
  if (dryRun) return found(orphansAmong(deps, session, await deps.tails.fetch(session, lock.signal), candidates))
  let orphans: ListedObject[] = []
  const token = createToken(deps.time)
  await replaceTail(
    deps,
    session,
    "collect garbage in",
    lock,
    async (tail) => {
      orphans = orphansAmong(deps, session, tail, candidates)
      return orphans.length === 0 ? undefined : raiseFence(deps, session, tail, token)
    },
    // A lost answer makes it raise the fence twice, which does no harm.
    () => false,
  )
  const left = await removeObjects(
    deps,
    orphans.map(({ key }) => key),
  )
  return { ...found(orphans.filter(({ key }) => !left.has(key))), left: left.size }
}

export function found(objects: readonly ListedObject[]): Collected {
  return { objects: objects.length, bytes: objects.reduce((sum, { size }) => sum + size, 0), left: 0, tombstones: 0 }
}

function orphansAmong(deps: Deps, session: string, tail: Tail, candidates: readonly ListedObject[]): ListedObject[] {
  const generation = generationOf(tail)
  // A session that was never created has objects of its first generation only; others are not of this package.
  const mayHaveEnded = tail.kind !== "absent"
  const named = new Set(tail.kind === "live" ? tail.manifest.segments.map(({ name }) => name) : [])
  return candidates.filter(({ key }) => {
    const parts = deps.keys.partsOf(key)
    if (parts === undefined || parts.session !== session) return false
    if (parts.generation !== generation) return mayHaveEnded
    return key.startsWith(deps.keys.segments) && !named.has(parts.name)
  })
}

/** Without a log, a new tombstone takes the role of the fence: it has another ETag. */
async function raiseFence(deps: TailDeps, session: string, tail: Tail, token: string): Promise<Replacement> {
  const { conditionalWrites } = deps
  const proof = await (tail.kind === "live" ? conditionalWrites.proofFor(tail.manifest) : conditionalWrites.proofHere())
  const { etags } = proof
  if (etags === "none") {
    const message = `Garbage in ${session} cannot be collected: without conditional writes the store cannot stop writers meanwhile.`
    throw storageError(deps, "unsupported", message, { session })
  }
  if (tail.kind !== "live") {
    const { generation } = tail
    const createdBy = tail.kind === "deleted" ? tail.createdBy : token
    return {
      bytes: createTombstone({ generation, token, createdBy }),
      etags,
      asTail: (etag) => ({ kind: "deleted", etag, generation, createdBy }),
    }
  }
  const { lines, lastModified = 0 } = tail
  const at = updatedAtOf(tail.manifest, lastModified)
  const manifest = { ...tail.manifest, ...proof, fence: tail.manifest.fence + 1, at }
  return {
    bytes: encodeTail(manifest, lines),
    etags,
    asTail: (etag) => ({ kind: "live", etag, manifest, lines }),
  }
}
