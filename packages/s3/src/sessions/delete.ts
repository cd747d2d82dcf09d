/**
 * Deletes a session: one write of a tombstone deletes it for every process. Its segments and documents, which no process can find
 * from then on, are removed afterwards.
 */
import { checkExpect, type Deleted, type Head } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { createToken } from "../base/time.ts"
import { creationTokenOf, tailBytesOf } from "../format/manifest.ts"
import { generationOf, headOf, nextGenerationOf } from "../format/tail.ts"
import { createTombstone } from "../format/tombstone.ts"
import { collectSession } from "../garbage-collection/collect.ts"
import { listObjects, removeObjects } from "../requests/objects.ts"
import { replaceTail } from "../tail/replace-tail.ts"
import type { TailDeps } from "../tail/tail-deps.ts"
import type { WriteLock } from "../tail/write-lock.ts"

/** `expect`: the head that the log must have; `conflict` if it has another. */
export async function deleteSession(
  deps: TailDeps,
  session: string,
  lock: WriteLock,
  expect: Head | undefined,
): Promise<Deleted> {
  // Names the next generation, so this deletion is recognized by it.
  const unique = createToken(deps.time)
  let generation = unique
  const { before, done } = await replaceTail(
    deps,
    session,
    "delete",
    lock,
    async (tail) => {
      if (expect !== undefined) checkExpect(tail.kind === "live" ? headOf(tail) : undefined, expect)
      if (tail.kind !== "live") return undefined
      generation = nextGenerationOf(tail.manifest, unique)
      const createdBy = creationTokenOf(tail.manifest)
      const bytes = createTombstone({ generation, token: createToken(deps.time), createdBy })
      const { etags } = await deps.conditionalWrites.proofFor(tail.manifest)
      return { bytes, etags, asTail: (etag) => ({ kind: "deleted", etag, generation, createdBy }) }
    },
    // Also true for a session created since then: this deletion is done and must not delete it.
    (tail) => generationOf(tail) === generation,
  )
  if (!done || before.kind !== "live") {
    // An earlier deletion, or a creation, may have been interrupted before it removed everything.
    return { bytes: 0, parts: 0, purged: await isPurged(deps, collectLeft(deps, session, lock)) }
  }
  const { manifest } = before
  const parts = manifest.segments.length + (tailBytesOf(manifest) > 0 ? 1 : 0)
  return {
    bytes: manifest.bytes,
    parts,
    purged: await isPurged(deps, removeEnded(deps, session, manifest.generation, generation)),
  }
}

async function collectLeft(deps: TailDeps, session: string, lock: WriteLock): Promise<number> {
  return (await collectSession(deps, session, lock, false)).left
}

/** Removes the objects of generations that have ended, also those that earlier deletions left. Returns how many are left. */
async function removeEnded(deps: TailDeps, session: string, ended: string, next: string): Promise<number> {
  const objects = [
    ...(await listObjects(deps, deps.keys.segmentsOf(session), undefined)),
    ...(await listObjects(deps, deps.keys.docsOf(session), undefined)),
  ].flatMap(({ key }) => {
    const parts = deps.keys.partsOf(key)
    return parts?.session === session && parts.generation !== next ? [{ key, generation: parts.generation }] : []
  })
  // The session may have been created and deleted again since. A generation that began before the listing has ended if the tail, read
  // after the listing, has another one.
  const isKnown = objects.every(({ generation }) => generation === ended)
  const current = isKnown ? next : generationOf(await deps.tails.fetch(session))
  const keys = objects.flatMap(({ key, generation }) => (generation === current ? [] : [key]))
  return (await removeObjects(deps, keys)).size
}

/** The session is deleted, so a failure only means that objects are left: for another `delete`, or for garbage collection. */
async function isPurged(deps: Deps, left: Promise<number>): Promise<boolean> {
  return left.then(
    (count) => count === 0 && !deps.mayKeepVersions(),
    () => false,
  )
}
