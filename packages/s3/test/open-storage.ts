/** A storage over a bucket in memory, and what it asks of it. */
import type { ObjectStorageOptions, S3Storage } from "../src/index.ts"
import { createObjectStorage } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import type { FakeStore } from "./fake-store.ts"
import { createFakeStore } from "./fake-store.ts"

export interface Opened {
  readonly bucket: FakeBucket
  readonly store: FakeStore
  readonly storage: S3Storage
}

export type Options = Partial<Omit<ObjectStorageOptions, "store" | "name">>

/** Patience for a store that fails is short here, since nobody waits for it to come back; and long enough for a busy machine. */
export function openOn(bucket: FakeBucket = new FakeBucket(), options: Options = {}): Opened {
  const store = createFakeStore(bucket)
  const storage = createObjectStorage({
    store,
    name: "s3:test",
    etags: "quoted",
    requestTimeout: 1_000,
    patience: 1_500,
    ...options,
  })
  return { bucket, store, storage }
}

/** Requests since the last time, by method. */
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
