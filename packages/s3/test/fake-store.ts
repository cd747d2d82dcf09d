/** The port over a bucket in memory, with a place to interfere. */
import type { GetOptions, ObjectStore, StoredObject } from "../src/index.ts"
import type { FakeBucket } from "./fake-bucket.ts"

/** One request, as a fault sees it. */
export interface StoreCall {
  readonly method: keyof ObjectStore
  readonly key: string
}

/** Does the request, does something else in its place, or throws. */
export type StoreFault = (call: StoreCall, proceed: () => unknown, signal: AbortSignal | undefined) => unknown

export interface FakeStore extends ObjectStore {
  /** Every request passes through it; undefined for none. */
  fault: StoreFault | undefined
  /** What a body gives for its bytes: pieces, or an error in their midst. */
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
    // No answer comes in the same turn.
    await Promise.resolve()
    return (store.fault === undefined ? work() : await store.fault(call, work, signal)) as T
  }
  const store: FakeStore = {
    fault: undefined,
    body: undefined,
    calls: [],
    get: (key, o = {}) => through("get", key, o.signal, () => stored(bucket, key, o, store.body)),
    put: (key, bytes, o = {}) => through("put", key, o.signal, () => bucket.put(key, bytes, o.condition)),
    head: (key, o) =>
      through("head", key, o?.signal, () => {
        const found = bucket.objects.get(key)
        return found === undefined
          ? undefined
          : { etag: found.etag, size: found.size, lastModified: seconds(found.lastModified) }
      }),
    list: (prefix, o = {}) => through("list", prefix, o.signal, () => bucket.list(prefix, o.after)),
    delete: (key, o) => through("delete", key, o?.signal, () => void bucket.objects.delete(key)),
  }
  return store
}

function stored(
  bucket: FakeBucket,
  key: string,
  { range, unless }: GetOptions,
  body: FakeStore["body"],
): StoredObject | "unchanged" | undefined {
  const found = bucket.objects.get(key)
  if (found === undefined) return undefined
  if (unless === found.etag) return "unchanged"
  const bytes = found.bytes.slice(range?.from ?? 0, range?.to)
  return {
    etag: found.etag,
    size: found.size,
    lastModified: seconds(found.lastModified),
    length: bytes.length,
    body: body === undefined ? inPieces(bytes) : body(bytes),
  }
}

export async function* inPieces(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** As the header of an answer tells it; a listing tells more. */
function seconds(time: number): number {
  return Math.floor(time / 1000) * 1000
}
