/**
 * Documents: an object each, replaced by compare-and-swap on its ETag. Deleting one leaves a tombstone, since stores do not compare
 * before they delete. Those of a session lie under its life, so that they are gone with it.
 */
import type { CallOptions, DocumentAdapter, StorageError } from "@sessions/core/storage"
import { checkSignal, parseDocKey, toUtf8 } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import type { Comparing } from "../tail/conditional-writes.ts"
import { once } from "../requests/request.ts"
import { collectKeys } from "../requests/list-objects.ts"
import type { PutCondition } from "../object-store/object-store.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { ChangedObject, openObject } from "../requests/open-object.ts"
import { isWorthAnotherTry, provesNothingDone, startPatience } from "../requests/retry.ts"
import { decode, lifeOf } from "../format/tail.ts"
import type { Tails } from "../tail/tail-cache.ts"
import { createTombstone, isTombstone, parseTombstone, unwrap, wrap } from "../format/tombstone.ts"
import { createToken } from "../base/time.ts"

export interface DocsHost {
  readonly env: Environment
  readonly tails: Tails
  readonly comparing: Comparing
}

/** What stands at a document's key. */
interface Stored {
  /** Undefined where there is no object at all. */
  readonly etag: string | undefined
  /** Undefined where there is no document. */
  readonly text: string | undefined
  /** Of the write that made it. */
  readonly token: string | undefined
  /** Of the write that made what it replaced; undefined where there was nothing. */
  readonly replaced: string | undefined
}

const NOTHING: Stored = { etag: undefined, text: undefined, token: undefined, replaced: undefined }

export function createDocs(host: DocsHost): DocumentAdapter {
  return {
    get: async (key, o) => (await readDoc(host, key, await placeOf(host, key, o), o)).text,

    compareAndSet(key, from, to, o) {
      if (to === null) {
        const bury = (token: string, replaced = token): Uint8Array =>
          createTombstone({ life: token, token, made: replaced })
        return swap(host, key, from, bury, o)
      }
      const content = toUtf8(to)
      return swap(host, key, from, (token, replaced) => wrap(content, token, replaced), o)
    },

    async *list(prefix, o) {
      yield await keysWith(host, prefix, o)
    },
  }
}

async function placeOf({ env, tails }: DocsHost, key: string, o: CallOptions): Promise<string> {
  const { session, name } = parseDocKey(key)
  if (session === undefined) return `${env.keys.docs}${name}`
  // Asked each time: under a life that was over before, a document would be acknowledged and never found.
  return `${env.keys.docsOf(session, lifeOf(await tails.fetch(session, o.signal)))}${name}`
}

async function readDoc({ env }: DocsHost, key: string, at: string, o: CallOptions): Promise<Stored> {
  const patience = startPatience(env)
  for (;;) {
    try {
      const object = await openObject(env, at, {}, o.signal)
      if (object === undefined || object === "unchanged") return NOTHING
      const bytes = await object.whole()
      const { etag } = object
      if (isTombstone(bytes.length)) {
        const { token, made } = parseTombstone(bytes) ?? {}
        return { etag, text: undefined, token, replaced: made }
      }
      const found = unwrap(bytes)
      const text = found === undefined ? undefined : decode(found.content)
      if (found === undefined || text === undefined) {
        const message = `${at} is no document of @sessions/s3. It is left as it is; delete it by hand.`
        throw storageError(env, "corrupt", message, { at })
      }
      const { token, replaced } = found
      return { etag, text, token, replaced }
    } catch (error) {
      if (error instanceof ChangedObject && (await patience.pause(error, o.signal))) continue
      throw toStorageError(env, error, `read the document ${key}`, { at })
    }
  }
}

/** Replaces what is expected; false where something else is there. As for an append, every answer but success is decided by looking. */
async function swap(
  host: DocsHost,
  key: string,
  from: string | null,
  make: (token: string, replaced: string | undefined) => Uint8Array,
  o: CallOptions,
): Promise<boolean> {
  const { env, comparing } = host
  let form = await comparing.known(o.signal)
  const at = await placeOf(host, key, o)
  const token = createToken(env.time)
  const patience = startPatience(env)
  let sent = false
  let uncertain = false
  let lost: ObjectStoreError | undefined
  let against: Stored | undefined
  for (;;) {
    const stored = await readDoc(host, key, at, sent ? {} : o).catch((error: unknown) => {
      throw lost !== undefined && (uncertain || !provesNothingDone(lost)) ? unknown(env, key, at, lost) : error
    })
    // Whoever came directly after ours says so, too.
    if (sent && (stored.token === token || stored.replaced === token)) return true
    if (lost !== undefined && stored.token !== against?.token) {
      // What came directly after the one that ours would have replaced is not ours: ours never was there, and never will be.
      if (form !== "none" && stored.replaced === against?.token) uncertain = false
      if (uncertain) throw unknown(env, key, at, lost)
    }
    if ((stored.text ?? null) !== from) return false
    if (lost !== undefined && !(isWorthAnotherTry(lost) && (await patience.pause(lost)))) {
      throw uncertain ? unknown(env, key, at, lost) : toStorageError(env, lost, `write the document ${key}`, { at })
    }
    // Nobody wrote, and the condition was refused all the same.
    if (lost?.failure === "precondition" && stored.etag !== undefined && stored.etag === against?.etag) {
      await comparing.correct().catch(() => undefined)
      form = await comparing.known()
    }
    if (!sent) checkSignal(o.signal)
    sent = true
    against = stored
    const condition: PutCondition | undefined =
      form === "none"
        ? undefined
        : stored.etag === undefined
          ? { kind: "absent" }
          : { kind: "match", etag: stored.etag, form }
    try {
      await once(env, undefined, (signal) =>
        env.store.put(at, make(token, stored.token), { signal, ...(condition !== undefined && { condition }) }),
      )
      return true
    } catch (error) {
      lost =
        error instanceof ObjectStoreError ? error : new ObjectStoreError("refused", String(error), { certain: false })
      uncertain ||= !lost.certain
    }
  }
}

async function keysWith(host: DocsHost, prefix: string, o: CallOptions): Promise<string[]> {
  const { env, tails } = host
  const keys: string[] = []
  for (const { key, size } of await collectKeys(env, env.keys.docs, o.signal)) {
    const name = key.slice(env.keys.docs.length)
    if (!isTombstone(size) && name.startsWith(prefix)) keys.push(name)
  }
  if (!prefix.startsWith("sessions/".slice(0, prefix.length))) return keys.sort(ascending)
  const one = /^sessions\/([^/]+)\//.exec(prefix)?.[1]
  const under = one === undefined ? env.keys.sessionDocs : env.keys.docsOf(one)
  const lives = new Map<string, string>()
  for (const { key, size } of await collectKeys(env, under, o.signal)) {
    const parts = env.keys.partsOf(key)
    const doc = parts === undefined ? "" : `sessions/${parts.session}/${parts.name}`
    if (parts === undefined || isTombstone(size) || !doc.startsWith(prefix)) continue
    const life = lives.get(parts.session) ?? lifeOf(await tails.fetch(parts.session, o.signal))
    lives.set(parts.session, life)
    if (life === parts.life) keys.push(doc)
  }
  return keys.sort(ascending)
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : 1
}

function unknown(env: Environment, key: string, at: string, lost: Error): StorageError {
  const message = `Whether the document ${key} was written is not known: the last answer was "${lost.message}". Get it again.`
  return storageError(env, "indeterminate", message, { at }, lost)
}
