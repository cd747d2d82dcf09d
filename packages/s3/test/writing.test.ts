import { expect, test } from "vitest"
import { ObjectStoreError } from "../src/index.ts"
import { realTime } from "../src/base/time.ts"
import type { FakeStore, StoreFault } from "./fake-store.ts"
import { lineOf, linesOf } from "./lines.ts"
import { openOn, readLines } from "./open-storage.ts"

const SIZES = { tailBytes: 6_000, segmentBytes: 4_000, mergedBytes: 16_000 }

function lost(): never {
  throw new ObjectStoreError("network", "lost", { certain: false })
}

/** Something else happens in the place of the next write of a tail, or of another object. */
function instead(store: FakeStore, fault: StoreFault, place = "tails/"): void {
  store.fault = (call, proceed, signal) => {
    if (call.method !== "put" || !call.key.includes(place)) return proceed()
    store.fault = undefined
    return fault(call, proceed, signal)
  }
}

test("an append whose answer is lost is found in the tail, also behind a hundred later ones", async () => {
  const { storage, store, bucket } = openOn()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  const other = openOn(bucket).storage
  instead(store, async (_, proceed) => {
    proceed()
    for (let n = 0; n < 100; n++) {
      const { next, log } = (await other.head("a")) ?? head
      await other.append("a", [lineOf(next)], { expect: { next, log } })
    }
    lost()
  })
  expect(await storage.append("a", [lineOf(2)], { expect: head })).toEqual({ next: 3, log: head.log })
  expect(await readLines(storage, "a")).toEqual(linesOf(103))
})

test("an append refused for its own line, which a client or proxy had sent twice, is acknowledged", async () => {
  const { storage, store } = openOn()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  instead(store, (_, proceed) => {
    proceed()
    return proceed()
  })
  expect(await storage.append("a", [lineOf(2)], { expect: head })).toEqual({ next: 3, log: head.log })
  expect(await readLines(storage, "a")).toEqual(linesOf(3))
})

test("a refusal proves nothing while the tail cannot be read: the append is indeterminate, and sent again meets itself", async () => {
  const { storage, store } = openOn()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  instead(store, (_, proceed) => {
    proceed()
    store.fault = lost
    return proceed()
  })
  const again = (): Promise<unknown> => storage.append("a", [lineOf(2)], { expect: head })
  await expect(again()).rejects.toMatchObject({ code: "indeterminate" })
  store.fault = undefined
  expect(await again()).toEqual({ next: 3, log: head.log })
  expect(await readLines(storage, "a")).toEqual(linesOf(3))
})

test("a write that arrives late finds that the tail has gone on without it", async () => {
  const { storage, store, bucket } = openOn()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  let late = (): unknown => undefined
  instead(store, (_, proceed) => {
    late = proceed
    return lost()
  })
  const second = await storage.append("a", [lineOf(2)], { expect: head })
  await storage.append("a", [lineOf(3)], { expect: second })
  expect(late).toThrow(/412/)
  expect(await readLines(openOn(bucket).storage, "a")).toEqual(linesOf(4))
})

test("a late creation brings no deleted session back", async () => {
  const { storage, store, bucket } = openOn()
  let late = (): unknown => undefined
  instead(store, (_, proceed) => {
    late = proceed
    return lost()
  })
  await storage.append("a", linesOf(2), { expect: 0 })
  await storage.delete("a")
  expect(late).toThrow(/412/)
  expect(await openOn(bucket).storage.head("a")).toBeUndefined()
})

test("a creation that was made, lost its answer and was deleted is not made once more", async () => {
  const { storage, store, bucket } = openOn()
  instead(store, async (_, proceed) => {
    proceed()
    await openOn(bucket).storage.delete("a")
    return proceed()
  })
  await expect(storage.append("a", linesOf(2), { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
  expect(await storage.head("a")).toBeUndefined()
})

test("a deletion whose answer is lost does not delete what was made after it", async () => {
  const { storage, store, bucket } = openOn(undefined, SIZES)
  await storage.append("a", linesOf(2), { expect: 0 })
  const other = openOn(bucket, SIZES).storage
  instead(store, async (_, proceed) => {
    proceed()
    await other.append("a", linesOf(20, 100), { expect: 0 })
    await other.docs.put("sessions/a/x", "{}", { expect: null })
    lost()
  })
  expect(await storage.delete("a")).toMatchObject({ bytes: 4_096 })
  expect(await readLines(other, "a")).toEqual(linesOf(20, 100))
  expect((await other.docs.get("sessions/a/x"))?.text).toBe("{}")
})

test("deleted and made again, an old head is a conflict at the same length, and nothing old comes back", async () => {
  const { storage, bucket } = openOn()
  const old = await storage.append("a", linesOf(3), { expect: 0, info: "old" })
  await storage.docs.put("sessions/a/x", "old", { expect: null })
  const other = openOn(bucket).storage
  await other.delete("a")
  const made = await other.append("a", linesOf(3, 50), { expect: 0 })
  expect(made.log).not.toBe(old.log)
  await expect(storage.append("a", [lineOf(3)], { expect: old })).rejects.toMatchObject({ code: "conflict" })
  expect(await readLines(storage, "a")).toEqual(linesOf(3, 50))
  expect(await storage.docs.get("sessions/a/x")).toBeUndefined()
  expect((await storage.head("a"))?.info).toBeUndefined()
})

test("documents are gone with their session at once, also where nothing of them could be removed", async () => {
  const { storage, store, bucket } = openOn()
  await storage.append("a", linesOf(1), { expect: 0 })
  await storage.docs.put("sessions/a/x", "old", { expect: null })
  store.fault = (call, proceed) => (call.method === "delete" ? lost() : proceed())
  await storage.delete("a")
  expect([...bucket.objects.keys()].some((key) => key.startsWith("session-docs/"))).toBe(true)
  const other = openOn(bucket).storage
  for (const expected of [[], ["sessions/a/y"]]) {
    const keys: string[] = []
    for await (const key of other.docs.list()) keys.push(key)
    expect(keys).toEqual(expected)
    expect(await other.docs.get("sessions/a/x")).toBeUndefined()
    if (expected.length > 0) continue
    await other.append("a", linesOf(1), { expect: 0 })
    await other.docs.put("sessions/a/y", "new", { expect: null })
  }
  expect((await other.collect()).objects).toBe(1)
  expect((await other.docs.get("sessions/a/y"))?.text).toBe("new")
})

test("a collector keeps out whoever is about to name what it takes, also where nothing is there yet", async () => {
  for (const begin of ["absent", "deleted", "there"] as const) {
    const { storage, store, bucket } = openOn(undefined, SIZES)
    const collector = openOn(bucket, SIZES).storage
    if (begin !== "absent") await storage.append("a", linesOf(1), { expect: 0 })
    if (begin === "deleted") await storage.delete("a")
    const head = await storage.head("a")
    const follows = head === undefined ? 0 : { next: head.next, log: head.log }
    const from = head?.next ?? 0
    // Its segments are written and not named yet when the collector passes.
    instead(store, async (_, proceed) => {
      expect((await collector.collect("a")).objects).toBeGreaterThan(0)
      return proceed()
    })
    await storage.append("a", linesOf(20, from), { expect: follows })
    expect(await readLines(openOn(bucket, SIZES).storage, "a")).toEqual(linesOf(20 + from))
    expect(await collector.collect("a")).toEqual({ objects: 0, bytes: 0 })
  }
})

test("a collection takes what dead writers left, and moves no session up the list", async () => {
  const { storage, store, bucket } = openOn(undefined, SIZES)
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  await storage.append("b", linesOf(2), { expect: 0 })
  instead(store, () => {
    store.fault = lost
    return lost()
  })
  await expect(storage.append("a", linesOf(20, 2), { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  const { storage: next } = openOn(bucket, SIZES)
  const before = await next.head("a")
  expect((await next.collect()).objects).toBeGreaterThan(0)
  expect((await next.head("a"))?.updatedAt).toBe(before?.updatedAt)
  const ids: string[] = []
  for await (const { id } of next.list()) ids.push(id)
  expect(ids).toEqual(["b", "a"])
  expect([...bucket.objects.keys()].filter((key) => key.startsWith("segments/"))).toEqual([])
  expect(await readLines(next, "a")).toEqual(linesOf(2))
})

test("appends of others while segments are merged are kept, and the merge too", async () => {
  const { storage, bucket, store } = openOn(undefined, SIZES)
  const other = openOn(bucket, SIZES).storage
  let head = await storage.append("a", linesOf(1), { expect: 0 })
  let raced = 0
  for (let n = 1; n < 60; n++) {
    // Whenever a segment is written, by sealing or merging, somebody else appends first.
    instead(
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
  expect(await readLines(openOn(bucket).storage, "a")).toEqual(linesOf(next))
  expect(parts.length).toBeLessThan(next / 4)
})

test("an append that is aborted while it looks asks no further, sends nothing and holds up nobody", async () => {
  const { storage, bucket } = openOn()
  const head = await storage.append("a", linesOf(1), { expect: 0 })
  const fresh = openOn(bucket, { requestTimeout: 60_000 })
  const controller = new AbortController()
  let asked: AbortSignal | undefined
  fresh.store.fault = (_call, _proceed, signal) => {
    asked = signal
    fresh.store.fault = undefined
    controller.abort()
    return new Promise(() => undefined)
  }
  const append = fresh.storage.append("a", [lineOf(1)], { expect: head, signal: controller.signal })
  await expect(append).rejects.toMatchObject({ code: "aborted", sent: undefined })
  expect(await fresh.storage.append("a", [lineOf(1)], { expect: head })).toMatchObject({ next: 2 })
  expect(asked?.aborted).toBe(true)
  expect(await readLines(storage, "a")).toEqual(linesOf(2))
})

test("a store that asks for patience is asked again, each time later", async () => {
  const { storage, store } = openOn(undefined, { patience: 5_000 })
  const head = await storage.append("a", linesOf(1), { expect: 0 })
  const times: number[] = []
  store.fault = (call, proceed) => {
    if (call.method !== "put") return proceed()
    times.push(performance.now())
    if (times.length > 3) return proceed()
    throw new ObjectStoreError("slow", "503 SlowDown", { certain: true })
  }
  await storage.append("a", [lineOf(1)], { expect: head })
  expect(times).toHaveLength(4)
  store.fault = () => {
    throw new ObjectStoreError("slow", "503 SlowDown", { certain: true })
  }
  const impatient = openOn(undefined, { patience: 100 })
  impatient.store.fault = store.fault
  await expect(impatient.storage.head("a")).rejects.toMatchObject({ code: "unavailable" })
})

test("a put of a blob is not undone by a collector that looked before it", async () => {
  const { storage, store, bucket } = openOn()
  const bytes = new Uint8Array([1, 2, 3])
  const hash = await storage.blobs.put(bytes)
  instead(
    store,
    async (_, proceed) => {
      await openOn(bucket).storage.blobs.put(bytes)
      return proceed()
    },
    "blobs/",
  )
  const looked = Date.now() + 1_500
  expect(await storage.blobs.delete(hash, { ifPutBefore: looked })).toBe(false)
  expect(await storage.blobs.get(hash)).toEqual(bytes)
})

test("a read that no head came before does not see what another process has deleted, however soon", async () => {
  const { storage, bucket } = openOn()
  await storage.append("a", linesOf(3), { expect: 0 })
  const other = openOn(bucket).storage
  await other.delete("a")
  expect(await readLines(storage, "a", { from: 0, to: 2 })).toEqual([])
})

test("after a head, neither a deletion nor another log of the same length outlives the time that it is fresh for", async () => {
  let now = 0
  const { storage, bucket } = openOn(undefined, { time: { ...realTime, now: () => now } })
  await storage.append("a", linesOf(3), { expect: 0 })
  await storage.head("a")
  const other = openOn(bucket).storage
  await other.delete("a")
  await other.append("a", linesOf(3, 50), { expect: 0 })
  now = 2_001
  expect(await readLines(storage, "a", { from: 0, to: 3 })).toEqual(linesOf(3, 50))
})

test("a document goes to the session that is there now, though this process knows the one before it", async () => {
  const { storage, bucket } = openOn()
  await storage.append("a", linesOf(1), { expect: 0 })
  await storage.head("a")
  const other = openOn(bucket).storage
  await other.delete("a")
  await other.append("a", linesOf(1, 50), { expect: 0 })
  await storage.docs.put("sessions/a/x", "kept", { expect: null })
  expect((await other.docs.get("sessions/a/x"))?.text).toBe("kept")
})

test("a document that lost its answer and was replaced is known to have been written; replaced twice, nobody can say", async () => {
  for (const times of [1, 2]) {
    const { storage, store, bucket } = openOn()
    const other = openOn(bucket).storage
    instead(
      store,
      async (_, proceed) => {
        proceed()
        for (let n = 0; n < times; n++) {
          const made = await other.docs.get("x")
          await other.docs.put("x", `after ${n}`, { expect: made?.version ?? null })
        }
        return lost()
      },
      "docs/",
    )
    const putting = storage.docs.put("x", "first", { expect: null })
    if (times === 1) expect(await putting).toBe("v:first")
    else await expect(putting).rejects.toMatchObject({ code: "indeterminate" })
    expect((await other.docs.get("x"))?.text).toBe(`after ${times - 1}`)
  }
})

test("a document whose request was lost, while another was put in its place, is a conflict", async () => {
  const { storage, store, bucket } = openOn()
  const other = openOn(bucket).storage
  const version = await other.docs.put("x", "before", { expect: null })
  instead(
    store,
    async () => {
      await other.docs.put("x", "another", { expect: version })
      return lost()
    },
    "docs/",
  )
  await expect(storage.docs.put("x", "mine", { expect: version })).rejects.toMatchObject({ code: "conflict" })
  expect((await other.docs.get("x"))?.text).toBe("another")
})

test("a deletion of a blob whose answer is lost says that the blob was deleted", async () => {
  const { storage, store } = openOn()
  const hash = await storage.blobs.put(new Uint8Array(3))
  instead(
    store,
    (_, proceed) => {
      proceed()
      return lost()
    },
    "blobs/",
  )
  expect(await storage.blobs.delete(hash)).toBe(true)
  expect(await storage.blobs.delete(hash)).toBe(false)
})
