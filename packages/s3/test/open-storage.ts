/** Opens storages over a bucket in memory, counts their requests and reads their logs. */
import { createObjectStorage, type ObjectStorageOptions, type S3Storage } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { createFakeStore, type FakeStore } from "./fake-store.ts"

export interface OpenedStorage {
  readonly bucket: FakeBucket
  readonly store: FakeStore
  readonly storage: S3Storage
}

export type Options = Partial<Omit<ObjectStorageOptions, "store" | "name">>

/** With lines of 2 KB every third append seals a segment, and a dozen appends merge some. */
export const SMALL_SIZES = { tailBytes: 6_000, segmentBytes: 4_000, mergedBytes: 16_000 }

/** For a store that fails until the storage gives up. */
export const SHORT_PATIENCE = { patience: 1_500 }

/** With the patience of an application, so that a busy machine does not use it up. */
export function openStorage(bucket: FakeBucket = new FakeBucket(), options: Options = {}): OpenedStorage {
  const store = createFakeStore(bucket)
  const storage = createObjectStorage({
    store,
    name: "s3:test",
    etags: "quoted",
    ...options,
  })
  return { bucket, store, storage }
}

/** Requests by method since the last call. */
export function takeCounts({ calls }: FakeStore): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { method } of calls.splice(0)) counts[method] = (counts[method] ?? 0) + 1
  return counts
}

export async function readLines(storage: S3Storage, session: string, range = {}): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session, range)) lines.push(...chunk.lines)
  return lines
}
