/** The requests of long sessions, on a bucket whose clock stands. */
import type { Head } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { realTime } from "../src/base/time.ts"
import type { FakeBucket } from "./fake-bucket.ts"
import { linesOf } from "./lines.ts"
import { type OpenedStorage, type Options, openStorage, takeCounts } from "./open-storage.ts"

/** Its clock stands, so that what was read stays fresh on a machine that takes long. */
export function openStill(bucket?: FakeBucket, options: Options = {}): OpenedStorage {
  return openStorage(bucket, { time: { ...realTime, now: () => 0 }, ...options })
}

export function appendsTest(count: number): void {
  test(`an append is one PUT, or 1.01 with sealing and merging, at 2 KB a line (${count} appends)`, async () => {
    const { storage, store } = openStill()
    let head: 0 | Head = 0
    for (const line of linesOf(count)) head = await storage.append("a", [line], { expect: head })
    const counts = takeCounts(store)
    // One segment per 128 lines, and one merge of 32 segments, each of which it reads and removes.
    const [segments, merges] = [Math.floor(count / 128), Math.floor(count / (128 * 32))]
    const merging = merges > 0 ? { get: 32 * merges, delete: 32 * merges } : {}
    expect(counts).toEqual({ put: count + segments + merges, ...merging })
    expect((counts["put"] ?? 0) / count).toBeLessThan(1.01)
  })
}

export function largeSessionTest(mb: number): void {
  test(`a session of ${mb} MB is at most 60 objects, and at most 60 GETs to replay`, async () => {
    const batches = Math.ceil(mb * 3.812)
    const { storage, store, bucket } = openStill()
    let head: 0 | Head = 0
    for (let n = 0; n < batches; n++) head = await storage.append("a", linesOf(128, n * 128), { expect: head })
    const info = await storage.head("a")
    expect(info?.bytes).toBeGreaterThan(mb * 1_000_000)
    expect(bucket.objects.size).toBeLessThanOrEqual(60)
    takeCounts(store)
    let lines = 0
    for await (const chunk of storage.read("a")) lines += chunk.lines.length
    expect(lines).toBe(batches * 128)
    const { get = 0, ...others } = takeCounts(store)
    expect(others).toEqual({})
    expect(get).toBeLessThanOrEqual(60)
  })
}
