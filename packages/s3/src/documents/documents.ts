/**
 * Documents: one object each, replaced by compare-and-set on its ETag. Not every store has conditional deletes, so deleting a document
 * writes a tombstone. A session's documents are keyed by its generation, so they disappear with the session.
 */
import {
  type CallOptions,
  checkSignal,
  type DocumentAdapter,
  parseDocKey,
  type StorageError,
  toUtf8,
} from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { createToken } from "../base/time.ts"
import { decodeUtf8 } from "../base/utf8.ts"
import { decodeEnvelope, encodeEnvelope } from "../format/envelope.ts"
import { generationOf } from "../format/tail.ts"
import { createTombstone, isTombstone, parseTombstone } from "../format/tombstone.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { listObjects } from "../requests/objects.ts"
import { ObjectChangedError, openObject } from "../requests/open-object.ts"
import { type Backoff, isRetryable, provesNotWritten, startBackoff } from "../requests/retry.ts"
import { upload } from "../requests/upload.ts"
import type { TailDeps } from "../tail/tail-deps.ts"

/** The object at a document's key: a document, a tombstone, or none. */
interface StoredDoc {
  /** Undefined if there is no object. */
  readonly etag: string | undefined
  /** Undefined if there is no document. */
  readonly text: string | undefined
  /** Token of the write that made the object. */
  readonly token: string | undefined
  /** Token of the object that it replaced; undefined if there was none. */
  readonly replaced: string | undefined
}

const ABSENT: StoredDoc = { etag: undefined, text: undefined, token: undefined, replaced: undefined }

export function createDocs(deps: TailDeps): DocumentAdapter {
  return {
    async get(key, o) {
      const backoff = startBackoff(deps)
      return (await readDoc(deps, key, await objectKeyOf(deps, key, o, backoff), o, backoff)).text
    },

    compareAndSet(key, from, to, o) {
      if (to === null) {
        const encode = (token: string, replaced = token): Uint8Array =>
          createTombstone({ generation: token, token, createdBy: replaced })
        return compareAndSet(deps, key, from, encode, o)
      }
      const content = toUtf8(to)
      return compareAndSet(deps, key, from, (token, replaced) => encodeEnvelope(content, token, replaced), o)
    },

    async *list(prefix, o) {
      yield await listDocKeys(deps, prefix, o)
    },
  }
}

async function objectKeyOf(deps: TailDeps, key: string, o: CallOptions, backoff: Backoff): Promise<string> {
  const { session, name } = parseDocKey(key)
  if (session === undefined) return `${deps.keys.docs}${name}`
  // Never from the cache: a document written to a generation that has ended would be acknowledged and never found.
  const tail = await deps.tails.fetch(session, o.signal, backoff)
  return `${deps.keys.docsOf(session, generationOf(tail))}${name}`
}

async function readDoc(deps: Deps, key: string, at: string, o: CallOptions, backoff: Backoff): Promise<StoredDoc> {
  for (;;) {
    try {
      const object = await openObject(deps, at, {}, o.signal, backoff)
      if (object === undefined || object === "unchanged") return ABSENT
      const bytes = await object.readAll()
      const { etag } = object
      if (isTombstone(bytes.length)) {
        const { token, createdBy } = parseTombstone(bytes) ?? {}
        return { etag, text: undefined, token, replaced: createdBy }
      }
      const envelope = decodeEnvelope(bytes)
      const text = envelope === undefined ? undefined : decodeUtf8(envelope.content)
      if (envelope === undefined || text === undefined) {
        const message = `${at} is not a document of @sessions/s3. It is left as it is: look at it with another client, and remove it if it is of another program.`
        throw storageError(deps, "corrupt", message, { at })
      }
      const { token, replaced } = envelope
      return { etag, text, token, replaced }
    } catch (error) {
      if (error instanceof ObjectChangedError && (await backoff.pause(error, o.signal))) continue
      throw toStorageError(deps, error, `read the document ${key}`, { at })
    }
  }
}

/**
 * Replaces the text `from`; false if the document has another one. As with an append, any answer but success is resolved by
 * reading the object again.
 */
async function compareAndSet(
  deps: TailDeps,
  key: string,
  from: string | null,
  encode: (token: string, replaced: string | undefined) => Uint8Array,
  o: CallOptions,
): Promise<boolean> {
  const { conditionalWrites } = deps
  let { etags } = await conditionalWrites.proofHere()
  const backoff = startBackoff(deps)
  const at = await objectKeyOf(deps, key, o, backoff)
  const token = createToken(deps.time)
  let sent = false
  /** An attempt may still arrive. */
  let uncertain = false
  /** An attempt may have been committed, also one that was refused: a client or proxy may have sent it twice. */
  let mayBeCommitted = false
  let failure: ObjectStoreError | undefined
  let base: StoredDoc | undefined
  for (;;) {
    const stored = await readDoc(deps, key, at, sent ? {} : o, backoff).catch((error: unknown) => {
      throw mayBeCommitted ? unknownOutcomeError(deps, key, at, failure as ObjectStoreError) : error
    })
    // Committed: the object is this write's, or replaced this write's.
    if (sent && (stored.token === token || stored.replaced === token)) return true
    if (failure !== undefined && stored.token !== base?.token) {
      // Another write replaced the object that this one was to replace, so this one was not and will never be committed. If several
      // writes followed each other, this one may have been the first of them.
      if (etags !== "none" && stored.replaced === base?.token) uncertain = mayBeCommitted = false
      if (mayBeCommitted) throw unknownOutcomeError(deps, key, at, failure)
    }
    if ((stored.text ?? null) !== from) return false
    if (failure !== undefined && !(isRetryable(failure) && (await backoff.pause(failure)))) {
      throw uncertain
        ? unknownOutcomeError(deps, key, at, failure)
        : toStorageError(deps, failure, `write the document ${key}`, { at })
    }
    // The condition was refused although the object is unchanged: the store may want another form of ETag.
    if (failure?.failure === "precondition" && stored.etag !== undefined && stored.etag === base?.etag) {
      const refused = failure
      await conditionalWrites.probeAgain().catch((why: unknown) => {
        throw uncertain ? unknownOutcomeError(deps, key, at, refused) : why
      })
      etags = (await conditionalWrites.proofHere()).etags
    }
    if (!sent) checkSignal(o.signal)
    sent = true
    base = stored
    const condition = conditionalWrites.conditionFor(stored.etag, etags)
    try {
      await upload(deps, at, encode(token, stored.token), { condition })
      return true
    } catch (error) {
      failure =
        error instanceof ObjectStoreError ? error : new ObjectStoreError("refused", String(error), { certain: false })
      uncertain ||= !failure.certain
      mayBeCommitted ||= !provesNotWritten(failure)
    }
  }
}

async function listDocKeys(deps: TailDeps, prefix: string, o: CallOptions): Promise<string[]> {
  const keys: string[] = []
  for (const { key, size } of await listObjects(deps, deps.keys.docs, o.signal)) {
    const name = key.slice(deps.keys.docs.length)
    if (!isTombstone(size) && name.startsWith(prefix)) keys.push(name)
  }
  if (!prefix.startsWith("sessions/".slice(0, prefix.length))) return keys.sort(ascending)
  const session = /^sessions\/([^/]+)\//.exec(prefix)?.[1]
  const under = session === undefined ? deps.keys.sessionDocs : deps.keys.docsOf(session)
  const generations = new Map<string, string>()
  for (const { key, size } of await listObjects(deps, under, o.signal)) {
    const parts = deps.keys.partsOf(key)
    const doc = parts === undefined ? "" : `sessions/${parts.session}/${parts.name}`
    if (parts === undefined || isTombstone(size) || !doc.startsWith(prefix)) continue
    const generation = generations.get(parts.session) ?? generationOf(await deps.tails.fetch(parts.session, o.signal))
    generations.set(parts.session, generation)
    if (generation === parts.generation) keys.push(doc)
  }
  return keys.sort(ascending)
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : 1
}

function unknownOutcomeError(deps: Deps, key: string, at: string, failure: Error): StorageError {
  const message = `The write of the document ${key} has an unknown outcome: the last answer was "${failure.message}". Read it again.`
  return storageError(deps, "indeterminate", message, { at }, failure)
}
