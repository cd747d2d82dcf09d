/** An object store over a bucket in memory, into which tests inject faults. */
import {
  type GetOptions,
  type ObjectInfo,
  type ObjectStore,
  ObjectStoreError,
  type PutCondition,
  type StoredObject,
} from "../src/index.ts"
import type { FakeBucket } from "./fake-bucket.ts"

export interface StoreCall {
  readonly method: keyof ObjectStore
  readonly key: string
}

/** Handles a request: `proceed` performs it. */
export type StoreFault = (call: StoreCall, proceed: () => unknown, signal: AbortSignal | undefined) => unknown

export interface FakeStore extends ObjectStore {
  /** Handles every request, if set. */
  fault: StoreFault | undefined
  /** Takes the bytes of a PUT, if set, before the bucket does; may throw. */
  upload: ((bytes: number, key: string) => Promise<void>) | undefined
  /** Is asked before each PUT with its condition, if set; may throw. */
  putFault: ((condition: PutCondition | undefined) => void) | undefined
  /** Streams the body of a GET, if set; may throw halfway. */
  body: ((bytes: Uint8Array) => AsyncIterable<Uint8Array>) | undefined
  readonly calls: StoreCall[]
}

export function createFakeStore(bucket: FakeBucket): FakeStore {
  const through = async <T>(
    method: keyof ObjectStore,
    key: string,
    signal: AbortSignal | undefined,
    work: () => T,
  ): Promise<T> => {
    const call = { method, key }
    store.calls.push(call)
    // As on a network, no answer arrives synchronously.
    await Promise.resolve()
    return (store.fault === undefined ? work() : await store.fault(call, work, signal)) as T
  }
  const store: FakeStore = {
    fault: undefined,
    putFault: undefined,
    upload: undefined,
    body: undefined,
    calls: [],
    get: (key, o = {}) => through("get", key, o.signal, () => getObject(bucket, key, o, store.body)),
    put: async (key, bytes, o = {}) => {
      await store.upload?.(bytes.length, key)
      return through("put", key, o.signal, () => {
        store.putFault?.(o.condition)
        return bucket.put(key, bytes, o.condition)
      })
    },
    head: (key, o) =>
      through("head", key, o?.signal, () => {
        const found = bucket.objects.get(key)
        return found === undefined
          ? undefined
          : { etag: found.etag, size: found.size, lastModified: seconds(found.lastModified), ...versionsOf(found) }
      }),
    list: (prefix, o = {}) => through("list", prefix, o.signal, () => bucket.list(prefix, o.after)),
    delete: (key, o) => through("delete", key, o?.signal, () => bucket.remove(key, o?.condition)),
  }
  return store
}

/** Handles the next PUT of a key that contains `keyPart` with the fault. */
export function replaceNextPut(store: FakeStore, fault: StoreFault, keyPart = "tails/"): void {
  store.fault = (call, proceed, signal) => {
    if (call.method !== "put" || !call.key.includes(keyPart)) return proceed()
    store.fault = undefined
    return fault(call, proceed, signal)
  }
}

export function loseAnswer(): never {
  throw new ObjectStoreError("network", "lost", { certain: false })
}

function getObject(
  bucket: FakeBucket,
  key: string,
  { range, unless }: GetOptions,
  body: FakeStore["body"],
): StoredObject | "unchanged" | undefined {
  const found = bucket.objects.get(key)
  if (found === undefined) return undefined
  if (unless === found.etag) return "unchanged"
  if (range !== undefined && range.from >= found.size)
    throw new ObjectStoreError("range", "416 InvalidRange", { certain: true })
  const bytes = found.bytes.slice(range?.from ?? 0, range?.to)
  return {
    etag: found.etag,
    size: found.size,
    lastModified: seconds(found.lastModified),
    ...versionsOf(found),
    length: bytes.length,
    body: body === undefined ? inParts(bytes) : body(bytes),
  }
}

export async function* inParts(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function versionsOf({ versioned }: ObjectInfo): Pick<ObjectInfo, "versioned"> {
  return versioned === undefined ? {} : { versioned }
}

/** The Last-Modified header has whole seconds, a listing has milliseconds. */
function seconds(time: number): number {
  return Math.floor(time / 1000) * 1000
}
