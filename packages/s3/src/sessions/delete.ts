/**
 * Deletes a session: one write of a tombstone deletes it for every process. Its segments and documents, which no process can find
 * from then on, are removed afterwards.
 */
import type { Deleted } from "@sessions/core/storage"
import { createToken } from "../base/time.ts"
import { creationTokenOf, tailBytesOf } from "../format/manifest.ts"
import { generationOf } from "../format/tail.ts"
import { createTombstone } from "../format/tombstone.ts"
import { collectSession } from "../garbage-collection/collect.ts"
import { listObjects, removeObjects } from "../requests/objects.ts"
import { replaceTail } from "../tail/replace-tail.ts"
import type { TailDeps } from "../tail/tail-deps.ts"
import type { WriteLock } from "../tail/write-lock.ts"

const NOTHING: Deleted = { bytes: 0, parts: 0 }

export async function deleteSession(deps: TailDeps, session: string, lock: WriteLock): Promise<Deleted> {
  // Names the next generation, so this deletion is recognized by it.
  const generation = createToken(deps.time)
  const { before, done } = await replaceTail(
    deps,
    session,
    "delete",
    lock,
    async (tail) => {
      if (tail.kind !== "live") return undefined
      const createdBy = creationTokenOf(tail.manifest)
      const bytes = createTombstone({ generation, token: createToken(deps.time), createdBy })
      const { etags } = tail.manifest
      return { bytes, etags, asTail: (etag) => ({ kind: "deleted", etag, generation, createdBy }) }
    },
    // Also true for a session created since then: this deletion is done and must not delete it.
    (tail) => generationOf(tail) === generation,
  )
  if (!done) {
    // An earlier deletion may have been interrupted before it removed everything.
    if (before.kind === "deleted") await collectSession(deps, session, lock).catch(ignore)
    return NOTHING
  }
  if (before.kind !== "live") return NOTHING
  const { manifest } = before
  await removeGeneration(deps, session, manifest.generation).catch(ignore)
  const parts = manifest.segments.length + (tailBytesOf(manifest) > 0 ? 1 : 0)
  return { bytes: manifest.bytes, parts }
}

async function removeGeneration(deps: TailDeps, session: string, generation: string): Promise<void> {
  for (const prefix of [deps.keys.segmentsOf(session, generation), deps.keys.docsOf(session, generation)]) {
    const objects = await listObjects(deps, prefix, undefined)
    await removeObjects(
      deps,
      objects.map(({ key }) => key),
    )
  }
}

function ignore(): void {
  // The session is deleted. Garbage collection removes the objects that are left.
}
