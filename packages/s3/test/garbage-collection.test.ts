import { expect, test } from "vitest"
import { FakeBucket } from "./fake-bucket.ts"
import { loseAnswer, replaceNextPut, type StoreFault } from "./fake-store.ts"
import { lineOf, linesOf } from "./lines.ts"
import { openStorage, readLines, SHORT_PATIENCE, SMALL_SIZES, takeCounts } from "./open-storage.ts"

test("a collector stops a writer that is about to name the segments it removes, also if there is no log yet", async () => {
  for (const begin of ["absent", "deleted", "there"] as const) {
    const { storage, store, bucket } = openStorage(undefined, SMALL_SIZES)
    const collector = openStorage(bucket, SMALL_SIZES).storage
    if (begin !== "absent") await storage.append("a", linesOf(1), { expect: 0 })
    if (begin === "deleted") await storage.delete("a")
    const head = await storage.head("a")
    const follows = head === undefined ? 0 : { next: head.next, log: head.log }
    const from = head?.next ?? 0
    // The collector runs after the segments are written and before a tail names them.
    replaceNextPut(store, async (_, proceed) => {
      expect((await collector.collect("a")).objects).toBeGreaterThan(0)
      return proceed()
    })
    await storage.append("a", linesOf(20, from), { expect: follows })
    expect(await readLines(openStorage(bucket, SMALL_SIZES).storage, "a")).toEqual(linesOf(20 + from))
    expect(await collector.collect("a")).toEqual({ objects: 0, bytes: 0, left: 0, tombstones: 0 })
  }
})

test("a collection removes the segments of dead writers and does not change the order of the list", async () => {
  const { storage, store, bucket } = openStorage(undefined, { ...SMALL_SIZES, ...SHORT_PATIENCE })
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  await storage.append("b", linesOf(2), { expect: 0 })
  replaceNextPut(store, () => {
    store.fault = loseAnswer
    return loseAnswer()
  })
  await expect(storage.append("a", linesOf(20, 2), { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  const { storage: next } = openStorage(bucket, SMALL_SIZES)
  const before = await next.head("a")
  expect((await next.collect()).objects).toBeGreaterThan(0)
  expect((await next.head("a"))?.updatedAt).toBe(before?.updatedAt)
  const ids: string[] = []
  for await (const { id } of next.list()) ids.push(id)
  expect(ids).toEqual(["b", "a"])
  expect([...bucket.objects.keys()].filter((key) => key.startsWith("segments/"))).toEqual([])
  expect(await readLines(next, "a")).toEqual(linesOf(2))
})

test("appends of another writer during a merge are kept, and so is the merge", async () => {
  const { storage, bucket, store } = openStorage(undefined, SMALL_SIZES)
  const other = openStorage(bucket, SMALL_SIZES).storage
  let head = await storage.append("a", linesOf(1), { expect: 0 })
  let raced = 0
  for (let n = 1; n < 60; n++) {
    // Another writer appends before each segment that is written, by sealing or merging.
    replaceNextPut(
      store,
      async (_, proceed) => {
        const { next, log } = (await other.head("a")) ?? head
        await other.append("a", [lineOf(next)], { expect: { next, log } })
        raced++
        return proceed()
      },
      "segments/",
    )
    const now = (await storage.head("a")) ?? head
    const append = storage.append("a", [lineOf(now.next)], { expect: { next: now.next, log: now.log } })
    head = await append.catch(async () => (await storage.head("a")) ?? head)
  }
  expect(raced).toBeGreaterThan(5)
  const { next = 0, parts = [] } = (await storage.head("a")) ?? {}
  expect(await readLines(openStorage(bucket).storage, "a")).toEqual(linesOf(next))
  expect(parts.length).toBeLessThan(next / 4)
})

test("a collector does not delete a blob that was put after it looked", async () => {
  const { storage, store, bucket } = openStorage()
  const bytes = new Uint8Array([1, 2, 3])
  const hash = await storage.blobs.put(bytes)
  replaceNextPut(
    store,
    async (_, proceed) => {
      await openStorage(bucket).storage.blobs.put(bytes)
      return proceed()
    },
    "blobs/",
  )
  const ifPutBefore = Date.now() + 1_500
  expect(await storage.blobs.delete(hash, { ifPutBefore })).toBe(false)
  expect(await storage.blobs.get(hash)).toEqual(bytes)
})

const DAY = 86_400_000

/** A bucket with a live session, and a deleted session, document, blob and probe. Its clock is set by the test. */
async function bucketWithTombstones(options: { readonly conditionalDeletes?: boolean } = {}) {
  const clock = { now: 1_800_000_000_000 }
  const bucket = new FakeBucket({ now: () => clock.now, pageSize: 2, ...options })
  const { storage, store } = openStorage(bucket)
  await storage.append("live", linesOf(1), { expect: 0 })
  for (let n = 0; n < 6; n++) {
    await storage.append(`dead${n}`, linesOf(1), { expect: 0 })
    await storage.delete(`dead${n}`)
  }
  const version = await storage.docs.put("pointer", "x", { expect: null })
  await storage.docs.delete("pointer", { expect: version })
  const note = await storage.docs.put("sessions/live/note", "x", { expect: null })
  await storage.docs.delete("sessions/live/note", { expect: note })
  await storage.blobs.delete(await storage.blobs.put(new Uint8Array(3)))
  store.fault = (call, proceed) => (call.method === "delete" ? loseAnswer() : proceed())
  await storage.probe()
  store.fault = undefined
  takeCounts(store)
  return { clock, bucket, storage, store }
}

const keysOf = ({ objects }: FakeBucket): string[] => [...objects.keys()]

test("tombstones and probes older than a day are removed, and a listing needs one request again", async () => {
  const { clock, bucket, storage, store } = await bucketWithTombstones()
  clock.now += DAY - 1_000
  expect(await storage.collect()).toEqual({ objects: 0, bytes: 0, left: 0, tombstones: 0 })
  clock.now += 2_000
  expect(await storage.collect()).toEqual({ objects: 10, bytes: 640, left: 0, tombstones: 0 })
  expect(keysOf(bucket)).toEqual(["tails/live"])
  takeCounts(store)
  const rows = []
  for await (const { id } of storage.list({ limit: 1 })) rows.push(id)
  expect([rows, takeCounts(store)]).toEqual([["live"], { list: 1, get: 1 }])
  const again = await storage.append("dead0", linesOf(2), { expect: 0 })
  expect(await readLines(storage, "dead0")).toEqual(linesOf(2))
  await storage.append("dead0", [lineOf(2)], { expect: again })
  expect(await storage.docs.put("pointer", "y", { expect: null })).toBe("v:y")
})

test("a session that is created in place of its tombstone while that is removed stays, also if the DELETE is late", async () => {
  for (const late of [false, true]) {
    const { clock, bucket, storage, store } = await bucketWithTombstones()
    clock.now += 2 * DAY
    const other = openStorage(bucket).storage
    const fault: StoreFault = async (call, proceed) => {
      if (call.method !== "delete" || call.key !== "tails/dead3") return proceed()
      store.fault = undefined
      if (late) proceed()
      await other.append("dead3", linesOf(2), { expect: 0 })
      return proceed()
    }
    store.fault = fault
    await storage.collect()
    expect(await readLines(other, "dead3")).toEqual(linesOf(2))
  }
})

test("a tombstone that was written after the listing stays", async () => {
  const { clock, bucket, storage, store } = await bucketWithTombstones()
  clock.now += 2 * DAY
  const other = openStorage(bucket).storage
  store.fault = async (call, proceed) => {
    if (call.method !== "get" || call.key !== "tails/dead3") return proceed()
    store.fault = undefined
    await other.append("dead3", linesOf(1), { expect: 0 })
    await other.delete("dead3")
    return proceed()
  }
  await storage.collect()
  expect(keysOf(bucket)).toEqual(["tails/live", "tails/dead3"])
})

test("a store that ignores the condition of a DELETE keeps its tombstones, and the collection says how many", async () => {
  const { clock, bucket, storage } = await bucketWithTombstones({ conditionalDeletes: false })
  clock.now += 2 * DAY
  expect(await storage.collect()).toEqual({ objects: 1, bytes: 64, left: 0, tombstones: 9 })
  expect(keysOf(bucket)).toHaveLength(10)
})

test("the tombstone of a session with documents stays, because it names their generation", async () => {
  const { clock, bucket, storage } = await bucketWithTombstones()
  await storage.docs.put("sessions/dead1/note", "kept", { expect: null })
  clock.now += 2 * DAY
  await storage.collect()
  expect(keysOf(bucket)).toContain("tails/dead1")
  expect((await storage.docs.get("sessions/dead1/note"))?.text).toBe("kept")
})

test("the tombstone of a session of which objects are left stays, so that a new session does not find them", async () => {
  const { clock, bucket, storage, store } = await bucketWithTombstones()
  bucket.put("session-docs/dead1/000000000000/note", new Uint8Array(100))
  clock.now += 2 * DAY
  store.fault = (call, proceed) => (call.key.includes("/dead1/") && call.method === "delete" ? loseAnswer() : proceed())
  expect(await storage.collect()).toMatchObject({ left: 1 })
  expect(keysOf(bucket)).toContain("tails/dead1")
})

test("a copy of a put that arrives late does not let a late deletion remove a blob that was put since", async () => {
  const { storage, store, bucket } = openStorage()
  const collector = openStorage(bucket)
  const bytes = new Uint8Array([1, 2, 3])
  let copyOfPut = (): unknown => undefined
  replaceNextPut(store, (_, proceed) => ((copyOfPut = proceed), proceed()), "blobs/")
  const hash = await storage.blobs.put(bytes)
  let lateDeletion = (): unknown => undefined
  replaceNextPut(collector.store, (_, proceed) => ((lateDeletion = proceed), loseAnswer()), "blobs/")
  const deleting = collector.storage.blobs.delete(hash, { ifPutBefore: Date.now() + 3_600_000 })
  await deleting.catch(() => undefined)
  await storage.blobs.put(bytes)
  for (const late of [copyOfPut, lateDeletion]) expect(late).toThrow(/412/)
  expect(await storage.blobs.get(hash)).toEqual(bytes)
})
