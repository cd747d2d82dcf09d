/**
 * Blobs: one object each, in an envelope whose token gives every put an ETag of its own. Otherwise a put of the same bytes would
 * not change the ETag, and a collector that looked at the blob before that put would delete it. Every write has a condition, so that no
 * ETag recurs.
 */
import { type BlobAdapter, type CallOptions, hasStorageCode, sha256Hex } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { createToken } from "../base/time.ts"
import { decodeEnvelope, encodeEnvelope, ENVELOPE_SIZE } from "../format/envelope.ts"
import { createTombstone, isTombstone } from "../format/tombstone.ts"
import { type ObjectInfo, ObjectStoreError } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { iterateObjects } from "../requests/objects.ts"
import { ObjectChangedError, openObject } from "../requests/open-object.ts"
import { type Backoff, isRetryable, provesNotWritten, startBackoff, withRetries } from "../requests/retry.ts"
import { upload } from "../requests/upload.ts"
import type { TailDeps } from "../tail/tail-deps.ts"

/** The writes that a call has sent. */
interface Attempts {
  /** One may have been done, or may still arrive, though it failed. */
  mayBeDone: boolean
}

export function createBlobs(deps: TailDeps): BlobAdapter {
  const { store, keys, time, conditionalWrites } = deps

  async function headOf(hash: string, o: CallOptions, backoff?: Backoff): Promise<ObjectInfo | undefined> {
    const found = await withRetries(deps, o.signal, (signal) => store.head(keys.blob(hash), { signal }), backoff)
    return found === undefined || isTombstone(found.size) ? undefined : found
  }

  async function withErrors<T>(hash: string, action: string, work: (attempts: Attempts) => Promise<T>): Promise<T> {
    const attempts: Attempts = { mayBeDone: false }
    try {
      return await work(attempts)
    } catch (error) {
      const at = keys.blob(hash)
      if (!attempts.mayBeDone || hasStorageCode(error, "aborted"))
        throw toStorageError(deps, error, `${action} the blob ${hash}`, { at })
      const message = `The attempt to ${action} the blob ${hash} has an unknown outcome (${(error as Error).message}). Repeat it, or look whether there is one.`
      throw storageError(deps, "indeterminate", message, { at }, error)
    }
  }

  /** Sends a write of a call, and remembers if it may have been done although it failed. */
  async function write(
    attempts: Attempts,
    key: string,
    bytes: Uint8Array,
    o: Parameters<typeof upload>[3],
  ): Promise<void> {
    try {
      await upload(deps, key, bytes, o)
    } catch (error) {
      attempts.mayBeDone ||= !(error instanceof ObjectStoreError) || !provesNotWritten(error)
      throw error
    }
  }

  return {
    put: (hash, content, { signal }) =>
      withErrors(hash, "put", async (attempts) => {
        const key = keys.blob(hash)
        const bytes = encodeEnvelope(content, createToken(time))
        let { etags } = await conditionalWrites.proofHere()
        const backoff = startBackoff(deps)
        let base: string | undefined
        for (;;) {
          // Conditional: a copy that arrives late would bring back an earlier ETag, for which the late write of a collector waits.
          const condition = conditionalWrites.conditionFor(base, etags)
          try {
            await write(attempts, key, bytes, { condition, signal })
            return
          } catch (error) {
            const isRefused = isRefusedCondition(error)
            if (!isRefused) {
              if (isRetryable(error) && (await backoff.pause(error, signal))) continue
              throw error
            }
            const found = await withRetries(
              deps,
              signal,
              (requestSignal) => store.head(key, { signal: requestSignal }),
              backoff,
            )
            const isUnchanged = base !== undefined && found?.etag === base
            // Another put has replaced the object since this one looked at it, so the blob is new enough.
            if (base !== undefined && found !== undefined && !isUnchanged && !isTombstone(found.size)) return
            if (isUnchanged) {
              if (!(await backoff.pause(error, signal))) throw error
              // The condition was refused although the blob is unchanged: the store may want another form of ETag.
              await conditionalWrites.probeAgain()
              etags = (await conditionalWrites.proofHere()).etags
            }
            base = found?.etag
          }
        }
      }),

    get: (hash, o) => withErrors(hash, "read", () => readBlob(deps, hash, o)),

    has: (hash, o) => withErrors(hash, "look for", async () => (await headOf(hash, o)) !== undefined),

    delete: (hash, o) =>
      withErrors(hash, "delete", async (attempts) => {
        let { etags } = await conditionalWrites.proofHere()
        const [generation, token, createdBy] = [createToken(time), createToken(time), createToken(time)]
        const bytes = createTombstone({ generation, token, createdBy })
        const backoff = startBackoff(deps)
        let failed: { readonly etag: string; readonly error: unknown } | undefined
        for (;;) {
          const found = await headOf(hash, o, backoff)
          // After a failed attempt the blob is gone: by this deletion, whose answer was lost, or by another one.
          if (found === undefined) return failed !== undefined
          if (!isOlder(found, o.ifPutBefore)) return false
          // The condition was refused although the blob is unchanged: the store may want another form of ETag.
          if (failed?.etag === found.etag && isRefusedCondition(failed.error)) {
            await conditionalWrites.probeAgain()
            etags = (await conditionalWrites.proofHere()).etags
          }
          const condition = conditionalWrites.conditionFor(found.etag, etags)
          try {
            await write(attempts, keys.blob(hash), bytes, { condition, signal: o.signal })
            return true
          } catch (error) {
            if (!isRetryable(error) || !(await backoff.pause(error, o.signal))) throw error
            failed = { etag: found.etag, error }
          }
        }
      }),

    async *list({ signal }) {
      for await (const { key, size, lastModified } of iterateObjects(deps, keys.blobs, signal)) {
        const hash = key.slice(key.lastIndexOf("/") + 1)
        if (isTombstone(size) || key !== keys.blob(hash)) continue
        yield [{ hash, bytes: size - ENVELOPE_SIZE, putAt: Math.floor(lastModified / 1000) * 1000 }]
      }
    },
  }
}

async function readBlob(deps: Deps, hash: string, o: CallOptions): Promise<Uint8Array | undefined> {
  const at = deps.keys.blob(hash)
  const backoff = startBackoff(deps)
  for (;;) {
    try {
      const object = await openObject(deps, at, {}, o.signal, backoff)
      if (object === undefined || object === "unchanged") return undefined
      if (isTombstone(object.size)) {
        object.cancel()
        return undefined
      }
      const content = decodeEnvelope(await object.readAll())?.content
      if (content !== undefined && (await sha256Hex(content)) === hash) return content.slice()
      const message = `The bytes of the blob ${hash} do not match its hash. It is left as it is: look at it with another client, and put back the object as it was if it is damaged.`
      throw storageError(deps, "corrupt", message, { at })
    } catch (error) {
      // A put of the same bytes replaced the object.
      if (!(error instanceof ObjectChangedError) || !(await backoff.pause(error, o.signal))) throw error
    }
  }
}

/** S3 reports whole seconds, so a put counts as made at the end of its second. */
function isOlder({ lastModified }: ObjectInfo, limit: number): boolean {
  return Math.floor(lastModified / 1000) * 1000 + 999 < limit
}

function isRefusedCondition(error: unknown): boolean {
  return error instanceof ObjectStoreError && error.failure === "precondition"
}
