/**
 * Blobs: an object each, behind a few bytes that make the ETag of every put its own. Without them a put of the same bytes could
 * not be told from the earlier one, and a collector that looked before it would take the blob away.
 */
import type { BlobAdapter, CallOptions } from "@sessions/core/storage"
import { sha256Hex } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import type { Comparing } from "../tail/conditional-writes.ts"
import { once } from "../requests/request.ts"
import { listAll } from "../requests/list-objects.ts"
import type { ObjectInfo } from "../object-store/object-store.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { ChangedObject, openObject } from "../requests/open-object.ts"
import { isWorthAnotherTry, persistently, startPatience } from "../requests/retry.ts"
import { createTombstone, ENVELOPE_SIZE, isTombstone, unwrap, wrap } from "../format/tombstone.ts"
import { createToken } from "../base/time.ts"

export interface BlobsHost {
  readonly env: Environment
  readonly comparing: Comparing
}

export function createBlobs({ env, comparing }: BlobsHost): BlobAdapter {
  const { store, keys, time } = env

  async function look(hash: string, o: CallOptions): Promise<ObjectInfo | undefined> {
    const found = await persistently(env, o.signal, (signal) => store.head(keys.blob(hash), { signal }))
    return found === undefined || isTombstone(found.size) ? undefined : found
  }

  async function guarded<T>(hash: string, what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw toStorageError(env, error, `${what} the blob ${hash}`, { at: keys.blob(hash) })
    }
  }

  return {
    put: (hash, content, { signal }) => {
      const bytes = wrap(content, createToken(time))
      // Late or twice it does no harm: it is the same blob.
      return guarded(hash, "put", () =>
        persistently(env, signal, (within) => store.put(keys.blob(hash), bytes, { signal: within })),
      )
    },

    get: (hash, o) => guarded(hash, "read", () => readBlob(env, hash, o)),

    has: (hash, o) => guarded(hash, "look for", async () => (await look(hash, o)) !== undefined),

    delete: (hash, o) =>
      guarded(hash, "delete", async () => {
        let form = await comparing.known()
        const bytes = createTombstone({ life: createToken(time), token: createToken(time), made: createToken(time) })
        const patience = startPatience(env)
        let failed: { readonly etag: string; readonly error: unknown } | undefined
        for (;;) {
          const found = await look(hash, o)
          // Gone since this deletion was sent: its answer was lost, or another one was faster.
          if (found === undefined) return failed !== undefined
          if (!isOlder(found, o.ifPutBefore)) return false
          // Nobody wrote, and the condition was refused all the same.
          if (failed?.etag === found.etag && isRefusedCondition(failed.error)) {
            await comparing.correct().catch(() => undefined)
            form = await comparing.known()
          }
          try {
            await once(env, o.signal, (signal) =>
              store.put(keys.blob(hash), bytes, {
                signal,
                ...(form !== "none" && { condition: { kind: "match", etag: found.etag, form } }),
              }),
            )
            return true
          } catch (error) {
            if (!isWorthAnotherTry(error) || !(await patience.pause(error, o.signal))) throw error
            failed = { etag: found.etag, error }
          }
        }
      }),

    async *list({ signal }) {
      for await (const { key, size, lastModified } of listAll(env, keys.blobs, signal)) {
        const hash = key.slice(key.lastIndexOf("/") + 1)
        if (isTombstone(size) || key !== keys.blob(hash)) continue
        yield [{ hash, bytes: size - ENVELOPE_SIZE, putAt: Math.floor(lastModified / 1000) * 1000 }]
      }
    },
  }
}

async function readBlob(env: Environment, hash: string, o: CallOptions): Promise<Uint8Array | undefined> {
  const at = env.keys.blob(hash)
  const patience = startPatience(env)
  for (;;) {
    try {
      const object = await openObject(env, at, {}, o.signal)
      if (object === undefined || object === "unchanged") return undefined
      if (isTombstone(object.size)) {
        object.drop()
        return undefined
      }
      const content = unwrap(await object.whole())?.content
      if (content !== undefined && (await sha256Hex(content)) === hash) return content.slice()
      const message = `The blob ${hash} does not hold the bytes it is named by; it is left as it is. Delete it, or put back the object as it was.`
      throw storageError(env, "corrupt", message, { at })
    } catch (error) {
      // A put of the same bytes came between.
      if (!(error instanceof ChangedObject) || !(await patience.pause(error, o.signal))) throw error
    }
  }
}

/** S3 tells whole seconds: a put counts as made at the end of its second. */
function isOlder({ lastModified }: ObjectInfo, limit: number): boolean {
  return Math.floor(lastModified / 1000) * 1000 + 999 < limit
}

function isRefusedCondition(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.failure === "precondition"
}
