import { expect, onTestFinished, test } from "vitest"
import { realTime } from "../src/base/time.ts"
import { ObjectStoreError } from "../src/index.ts"
import { inParts } from "./fake-store.ts"
import { linesOf } from "./lines.ts"
import { openStorage, readLines, SMALL_SIZES, takeCounts } from "./open-storage.ts"

const brokenOff = (): ObjectStoreError => new ObjectStoreError("network", "broken off", { certain: false })

/** A log of 2 MB has many segments, so that its read is streamed. */
const MEDIUM_SIZES = { tailBytes: 60_000, segmentBytes: 40_000, mergedBytes: 80_000_000 }

test("a body that breaks off is continued where it broke off, in the tail and in segments", async () => {
  const { storage, store, bucket } = openStorage()
  const lines = linesOf(2_000)
  await storage.append("a", lines, { expect: 0 })
  const fresh = openStorage(bucket)
  let requested = 0
  let received = 0
  fresh.store.body = async function* (bytes) {
    requested += bytes.length
    for await (const part of inParts(bytes)) {
      received += part.length
      yield part
      if (received % 3 === 0) continue
      // Most answers break off after one part.
      throw brokenOff()
    }
  }
  expect(await readLines(fresh.storage, "a")).toEqual(lines)
  // No byte is received twice.
  const { bytes = 0 } = (await storage.head("a")) ?? {}
  expect(received).toBeGreaterThanOrEqual(bytes)
  expect(received).toBeLessThan(bytes + 10_000)
  expect(requested).toBeGreaterThan(received)
  expect(store.calls.length).toBeGreaterThan(0)
})

test("a body that breaks off behind its last byte is whole, in the tail and in segments", async () => {
  const { bucket, storage } = openStorage(undefined, SMALL_SIZES)
  await storage.append("a", linesOf(30), { expect: 0 })
  const fresh = openStorage(bucket, SMALL_SIZES)
  fresh.store.body = async function* (bytes) {
    yield bytes
    throw brokenOff()
  }
  expect(await readLines(fresh.storage, "a")).toEqual(linesOf(30))
})

test("a body that stalls is cancelled after `requestTimeout` and requested again", async () => {
  const { bucket, storage } = openStorage()
  await storage.append("a", linesOf(10), { expect: 0 })
  const fresh = openStorage(bucket, { requestTimeout: 30 })
  let stalled = 0
  fresh.store.body = async function* (bytes) {
    yield bytes.subarray(0, 100)
    if (stalled++ === 0) await new Promise(() => undefined)
    yield bytes.subarray(100)
  }
  expect(await readLines(fresh.storage, "a")).toEqual(linesOf(10))
  expect(stalled).toBeGreaterThanOrEqual(2)
})

test("a tail that is replaced while its body arrives is read again from its beginning", async () => {
  const { bucket, storage } = openStorage()
  let head = await storage.append("a", linesOf(10), { expect: 0 })
  const fresh = openStorage(bucket, { patience: 20_000 })
  let times = 0
  fresh.store.body = async function* (bytes) {
    yield bytes.subarray(0, 3_000)
    if (times++ < 3) {
      head = await storage.append("a", linesOf(1, head.next), { expect: head })
      throw brokenOff()
    }
    yield bytes.subarray(3_000)
  }
  expect(await readLines(fresh.storage, "a")).toEqual(linesOf(13))
})

test("a tail that has become shorter than what had arrived is read again from its beginning", async () => {
  const { bucket, storage } = openStorage(undefined, SMALL_SIZES)
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  const fresh = openStorage(bucket, SMALL_SIZES)
  let isFirst = true
  fresh.store.body = async function* (bytes) {
    if (!isFirst) return yield bytes
    isFirst = false
    yield bytes.subarray(0, -1)
    // Seals lines into a segment.
    await storage.append("a", linesOf(1, head.next), { expect: head })
    expect(bucket.objects.get("tails/a")?.size).toBeLessThan(bytes.length)
    throw brokenOff()
  }
  expect(await readLines(fresh.storage, "a")).toEqual(linesOf(3))
})

test("a long read requests several segments in parallel, within `readAheadBytes`", async () => {
  const { bucket, storage } = openStorage(undefined, { ...MEDIUM_SIZES, mergedBytes: 80_000 })
  const lines = linesOf(1_000)
  for (let n = 0; n < 1_000; n += 20) {
    const { next, log } = (await storage.head("a")) ?? { next: 0, log: "" }
    await storage.append("a", lines.slice(n, n + 20), { expect: next === 0 ? 0 : { next, log } })
  }
  const { storage: reader, store } = openStorage(bucket, { ...MEDIUM_SIZES, readAheadBytes: 400_000 })
  const chunks = reader.read("a")[Symbol.asyncIterator]()
  let most = 0
  const got: string[] = []
  for (;;) {
    const { done, value } = await chunks.next()
    if (done === true) break
    got.push(...value.lines)
    // Lets the requests ahead be sent.
    for (let tick = 0; tick < 20; tick++) await Promise.resolve()
    const requested = store.calls.filter(({ key }) => key.includes("segments/")).length
    most = Math.max(most, requested * 80_000 - got.length * 2_048)
  }
  expect(got).toEqual(lines)
  expect(most).toBeGreaterThan(160_000)
  expect(most).toBeLessThanOrEqual(400_000 + 80_000)
})

test("a reader that stops early has not requested the rest", async () => {
  const { bucket, storage } = openStorage()
  await storage.append("a", linesOf(20_000), { expect: 0 })
  const { storage: reader, store } = openStorage(bucket)
  for await (const _ of reader.read("a")) break
  const { get = 0 } = takeCounts(store)
  expect(get).toBeLessThanOrEqual(2)
})

test("a slow reader continues by seq while segments are merged, and gets a conflict when its log is deleted", async () => {
  const sizes = { tailBytes: 6_000, segmentBytes: 4_000, mergedBytes: 16_000, freshFor: 0 }
  const { bucket, storage } = openStorage(undefined, sizes)
  let head = await storage.append("a", linesOf(1), { expect: 0 })
  const grow = async (): Promise<void> => {
    head = await storage.append("a", linesOf(1, head.next), { expect: head })
  }
  while (head.next < 40) await grow()
  const { storage: reader } = openStorage(bucket, sizes)
  const got: string[] = []
  for await (const chunk of reader.read("a")) {
    got.push(...chunk.lines)
    // Merges the small segments that are still to be read.
    for (let n = 0; n < 12; n++) await grow()
    await storage.collect("a")
  }
  expect(got).toEqual(linesOf(40))

  const last = reader.read("a")[Symbol.asyncIterator]()
  await last.next()
  await storage.delete("a")
  const rest = async (): Promise<void> => {
    for (;;) if ((await last.next()).done === true) return
  }
  await expect(rest()).rejects.toMatchObject({ code: "conflict" })
})

test("an aborted read ends at once, even if the store does not answer", async () => {
  const { storage, store } = openStorage(undefined, { requestTimeout: 60_000, patience: 60_000 })
  await storage.append("a", linesOf(10), { expect: 0 })
  store.body = async function* (bytes) {
    yield bytes.subarray(0, 10)
    await new Promise(() => undefined)
  }
  const controller = new AbortController()
  const reading = consume(storage.read("a", {}, { signal: controller.signal }))
  setTimeout(() => controller.abort(), 5)
  await expect(reading).rejects.toMatchObject({ code: "aborted" })
})

test("a read without a head before it never shows a log that another process has deleted", async () => {
  const { storage, bucket } = openStorage()
  await storage.append("a", linesOf(3), { expect: 0 })
  const other = openStorage(bucket).storage
  await other.delete("a")
  expect(await readLines(storage, "a", { from: 0, to: 2 })).toEqual([])
})

test("after `freshFor` a read shows neither a deleted log nor the one it was replaced by", async () => {
  let now = 0
  const { storage, bucket } = openStorage(undefined, { time: { ...realTime, now: () => now } })
  await storage.append("a", linesOf(3), { expect: 0 })
  await storage.head("a")
  const other = openStorage(bucket).storage
  await other.delete("a")
  await other.append("a", linesOf(3, 50), { expect: 0 })
  now = 2_001
  expect(await readLines(storage, "a", { from: 0, to: 3 })).toEqual(linesOf(3, 50))
})

async function consume(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) continue
}

test("parallel downloads add one listener to the signal that they share", async () => {
  const sizes = { ...MEDIUM_SIZES, mergedBytes: 80_000 }
  const { bucket, storage } = openStorage(undefined, sizes)
  const lines = linesOf(1_000)
  for (let n = 0; n < 1_000; n += 20) {
    const { next, log } = (await storage.head("a")) ?? { next: 0, log: "" }
    await storage.append("a", lines.slice(n, n + 20), { expect: next === 0 ? 0 : { next, log } })
  }
  const fresh = openStorage(bucket, sizes)
  let inFlight = 0
  let mostInFlight = 0
  fresh.store.body = async function* (bytes) {
    mostInFlight = Math.max(mostInFlight, ++inFlight)
    await new Promise((resolve) => setTimeout(resolve, 5))
    yield bytes
    inFlight--
  }
  const mostListeners = countListeners()
  const read: string[] = []
  for await (const chunk of fresh.storage.read("a", {}, new AbortController())) read.push(...chunk.lines)
  expect(read).toEqual(lines)
  expect(mostInFlight).toBeGreaterThan(10)
  expect(mostListeners()).toBeLessThan(5)
})

/** The most listeners that an abort signal has had at once, since the call. */
function countListeners(): () => number {
  const listeners = new Map<unknown, number>()
  let most = 0
  const { prototype } = AbortSignal
  const changed =
    (by: number): ProxyHandler<() => void>["apply"] =>
    (listen, signal, args) => {
      const count = (listeners.get(signal) ?? 0) + by
      listeners.set(signal, count)
      most = Math.max(most, count)
      return Reflect.apply(listen, signal, args)
    }
  for (const [name, by] of [
    ["addEventListener", 1],
    ["removeEventListener", -1],
  ] as const) {
    const listen = Reflect.get(prototype, name) as () => void
    Reflect.set(prototype, name, new Proxy(listen, { apply: changed(by) as () => void }))
    onTestFinished(() => void Reflect.set(prototype, name, listen))
  }
  return () => most
}
