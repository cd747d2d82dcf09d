import { expect, test } from "vitest"
import { ObjectStoreError } from "../src/index.ts"
import { inPieces } from "./fake-store.ts"
import { linesOf } from "./lines.ts"
import { openOn, readLines, takeCounts } from "./open-storage.ts"

const broken = (): ObjectStoreError => new ObjectStoreError("network", "broken off", { certain: false })

/** Pieces of about 2 MB in 8 segments, so that a read is too long to be fetched whole. */
const SMALL = { tailBytes: 60_000, segmentBytes: 40_000, mergedBytes: 80_000_000 }

test("a body that breaks off goes on where it broke off, in the tail and in segments", async () => {
  const { storage, store, bucket } = openOn()
  const lines = linesOf(2_000)
  await storage.append("a", lines, { expect: 0 })
  const fresh = openOn(bucket)
  let asked = 0
  let given = 0
  fresh.store.body = async function* (bytes) {
    asked += bytes.length
    for await (const piece of inPieces(bytes)) {
      given += piece.length
      yield piece
      if (given % 3 === 0) continue
      // Each answer gives one piece more.
      throw broken()
    }
  }
  expect(await readLines(fresh.storage, "a")).toEqual(lines)
  // Nothing is given twice.
  const { bytes = 0 } = (await storage.head("a")) ?? {}
  expect(given).toBeGreaterThanOrEqual(bytes)
  expect(given).toBeLessThan(bytes + 10_000)
  expect(asked).toBeGreaterThan(given)
  expect(store.calls.length).toBeGreaterThan(0)
})

test("a body that stops coming is given up after the time for a request, and asked for again", async () => {
  const { bucket, storage } = openOn()
  await storage.append("a", linesOf(10), { expect: 0 })
  const fresh = openOn(bucket, { requestTimeout: 30 })
  let stalled = 0
  fresh.store.body = async function* (bytes) {
    yield bytes.subarray(0, 100)
    if (stalled++ === 0) await new Promise(() => undefined)
    yield bytes.subarray(100)
  }
  expect(await readLines(fresh.storage, "a")).toEqual(linesOf(10))
  expect(stalled).toBe(2)
})

test("a tail that is replaced while its body comes is read anew, never mixed", async () => {
  const { bucket, storage } = openOn()
  let head = await storage.append("a", linesOf(10), { expect: 0 })
  const fresh = openOn(bucket, { patience: 20_000 })
  let times = 0
  fresh.store.body = async function* (bytes) {
    yield bytes.subarray(0, 3_000)
    if (times++ < 3) {
      head = await storage.append("a", linesOf(1, head.next), { expect: head })
      throw broken()
    }
    yield bytes.subarray(3_000)
  }
  expect(await readLines(fresh.storage, "a")).toEqual(linesOf(13))
})

test("a long read asks for several segments at once, and no further ahead than its memory allows", async () => {
  const { bucket, storage } = openOn(undefined, { ...SMALL, mergedBytes: 80_000 })
  const lines = linesOf(1_000)
  for (let n = 0; n < 1_000; n += 20) {
    const { next, log } = (await storage.head("a")) ?? { next: 0, log: "" }
    await storage.append("a", lines.slice(n, n + 20), { expect: next === 0 ? 0 : { next, log } })
  }
  const { storage: reader, store } = openOn(bucket, { ...SMALL, readAheadBytes: 400_000 })
  const chunks = reader.read("a")[Symbol.asyncIterator]()
  let most = 0
  const got: string[] = []
  for (;;) {
    const { done, value } = await chunks.next()
    if (done === true) break
    got.push(...value.lines)
    // Whatever is fetched ahead has its time to be asked for.
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    const asked = store.calls.filter(({ key }) => key.includes("segments/")).length
    most = Math.max(most, asked * 80_000 - got.length * 2_048)
  }
  expect(got).toEqual(lines)
  expect(most).toBeGreaterThan(160_000)
  expect(most).toBeLessThanOrEqual(400_000 + 80_000)
})

test("a reader that stops early has not asked for the rest", async () => {
  const { bucket, storage } = openOn()
  await storage.append("a", linesOf(20_000), { expect: 0 })
  const { storage: reader, store } = openOn(bucket)
  for await (const _ of reader.read("a")) break
  const { get = 0 } = takeCounts(store)
  expect(get).toBeLessThanOrEqual(2)
})

test("a slow reader goes on by seq while segments are merged under it, and is told when its log is gone", async () => {
  const sizes = { tailBytes: 6_000, segmentBytes: 4_000, mergedBytes: 16_000, freshFor: 0 }
  const { bucket, storage } = openOn(undefined, sizes)
  let head = await storage.append("a", linesOf(1), { expect: 0 })
  const grow = async (): Promise<void> => {
    head = await storage.append("a", linesOf(1, head.next), { expect: head })
  }
  while (head.next < 40) await grow()
  const { storage: reader } = openOn(bucket, sizes)
  const got: string[] = []
  for await (const chunk of reader.read("a")) {
    got.push(...chunk.lines)
    // Merges whatever small segments the reader has yet to come to.
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

test("an aborted read ends at once, whatever the store does", async () => {
  const { storage, store } = openOn(undefined, { requestTimeout: 60_000, patience: 60_000 })
  await storage.append("a", linesOf(10), { expect: 0 })
  store.body = async function* (bytes) {
    yield bytes.subarray(0, 10)
    await new Promise(() => undefined)
  }
  const controller = new AbortController()
  const reading = readAborted(storage.read("a", {}, { signal: controller.signal }))
  setTimeout(() => controller.abort(), 5)
  await expect(reading).rejects.toMatchObject({ code: "aborted" })
})

async function readAborted(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks) continue
}
