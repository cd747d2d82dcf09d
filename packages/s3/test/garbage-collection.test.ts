import { expect, test } from "vitest"
import { loseAnswer, replaceNextPut } from "./fake-store.ts"
import { lineOf, linesOf } from "./lines.ts"
import { openStorage, readLines, SMALL_SIZES } from "./open-storage.ts"

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
    expect(await collector.collect("a")).toEqual({ objects: 0, bytes: 0, left: 0 })
  }
})

test("a collection removes the segments of dead writers and does not change the order of the list", async () => {
  const { storage, store, bucket } = openStorage(undefined, SMALL_SIZES)
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
