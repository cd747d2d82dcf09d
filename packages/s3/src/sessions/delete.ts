/** Deletion: one write makes it gone for everyone; what it leaves behind nobody can meet, and is cleared away after it. */
import type { Deleted } from "@sessions/core/storage"
import { collectSession } from "../garbage-collection/collect.ts"
import type { TailHost } from "../tail/replace-tail.ts"
import { replaceTail } from "../tail/replace-tail.ts"
import { removeObjects } from "../segments/segments.ts"
import { collectKeys } from "../requests/list-objects.ts"
import { makerOf, tailBytesOf } from "../format/manifest.ts"
import { lifeOf } from "../format/tail.ts"
import { createTombstone } from "../format/tombstone.ts"
import { createToken } from "../base/time.ts"
import type { Turn } from "../tail/write-lock.ts"

const NOTHING: Deleted = { bytes: 0, parts: 0 }

export async function removeSession(host: TailHost, session: string, turn: Turn): Promise<Deleted> {
  const { env } = host
  // The next life's name is this deletion's token, so that a tombstone is known for one's own by it.
  const life = createToken(env.time)
  const { before, done } = await replaceTail(
    host,
    session,
    "delete",
    turn,
    async (tail) => {
      if (tail.kind !== "live") return undefined
      const made = makerOf(tail.manifest)
      const bytes = createTombstone({ life, token: createToken(env.time), made })
      return { bytes, etags: tail.manifest.etags, asTail: (etag) => ({ kind: "gone", etag, life, made }) }
    },
    // What lives under the new life was made after this deletion, which is done then, and not meant.
    (tail) => lifeOf(tail) === life,
  )
  if (!done) {
    // A deletion that broke off here may have left something.
    if (before.kind === "gone") await collectSession(host, session, turn).catch(ignore)
    return NOTHING
  }
  if (before.kind !== "live") return NOTHING
  const { manifest } = before
  await clear(host, session, manifest.life).catch(ignore)
  const parts = manifest.segments.length + (tailBytesOf(manifest) > 0 ? 1 : 0)
  return { bytes: manifest.bytes, parts }
}

/** All that lies under a life that is over. */
async function clear({ env }: TailHost, session: string, life: string): Promise<void> {
  for (const prefix of [env.keys.segmentsOf(session, life), env.keys.docsOf(session, life)]) {
    const objects = await collectKeys(env, prefix, undefined)
    await removeObjects(
      env,
      objects.map(({ key }) => key),
    )
  }
}

function ignore(): void {
  // The session is gone; what is left of it takes room until a collection, and nothing else.
}
