import type { Chunk } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { ObjectStoreError } from "../src/index.ts"
import { loseAnswer, replaceNextPut } from "./fake-store.ts"
import { lineOf, linesOf } from "./lines.ts"
import { openStorage, readLines, SHORT_PATIENCE, SMALL_SIZES } from "./open-storage.ts"

async function* chunkOf(lines: string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

test("an append whose answer is lost is found in the tail, even after a hundred later appends", async () => {
  const { storage, store, bucket } = openStorage()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  const other = openStorage(bucket).storage
  replaceNextPut(store, async (_, proceed) => {
    proceed()
    for (let n = 0; n < 100; n++) {
      const { next, log } = (await other.head("a")) ?? head
      await other.append("a", [lineOf(next)], { expect: { next, log } })
    }
    loseAnswer()
  })
  expect(await storage.append("a", [lineOf(2)], { expect: head })).toEqual({ next: 3, log: head.log })
  expect(await readLines(storage, "a")).toEqual(linesOf(103))
})

test("an append that a client or proxy sends twice is committed, although its second attempt is refused", async () => {
  const { storage, store } = openStorage()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  replaceNextPut(store, (_, proceed) => {
    proceed()
    return proceed()
  })
  expect(await storage.append("a", [lineOf(2)], { expect: head })).toEqual({ next: 3, log: head.log })
  expect(await readLines(storage, "a")).toEqual(linesOf(3))
})

test("an append is indeterminate while the tail cannot be read after a refusal, and is recognized when it is repeated", async () => {
  const { storage, store } = openStorage(undefined, SHORT_PATIENCE)
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  replaceNextPut(store, (_, proceed) => {
    proceed()
    store.fault = loseAnswer
    return proceed()
  })
  const again = (): Promise<unknown> => storage.append("a", [lineOf(2)], { expect: head })
  await expect(again()).rejects.toMatchObject({ code: "indeterminate" })
  store.fault = undefined
  expect(await again()).toEqual({ next: 3, log: head.log })
  expect(await readLines(storage, "a")).toEqual(linesOf(3))
})

test("an append whose answer is lost conflicts with a replace of the log without it, and is indeterminate after one with it", async () => {
  for (const committed of [false, true]) {
    const { storage, store, bucket } = openStorage()
    const other = openStorage(bucket).storage
    const head = await storage.append("a", linesOf(2), { expect: 0 })
    replaceNextPut(store, async (_, proceed) => {
      if (committed) proceed()
      const expect = (await other.head("a")) ?? head
      await other.replace?.("a", chunkOf(linesOf(expect.next)), { expect })
      return loseAnswer()
    })
    const code = committed ? "indeterminate" : "conflict"
    await expect(storage.append("a", [lineOf(2)], { expect: head })).rejects.toMatchObject({ code })
  }
})

test("a write that arrives late fails if the tail has changed since", async () => {
  const { storage, store, bucket } = openStorage()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  let sendLate = (): unknown => undefined
  replaceNextPut(store, (_, proceed) => {
    sendLate = proceed
    return loseAnswer()
  })
  const second = await storage.append("a", [lineOf(2)], { expect: head })
  await storage.append("a", [lineOf(3)], { expect: second })
  expect(sendLate).toThrow(/412/)
  expect(await readLines(openStorage(bucket).storage, "a")).toEqual(linesOf(4))
})

test("a late creation does not bring a deleted session back", async () => {
  const { storage, store, bucket } = openStorage()
  let sendLate = (): unknown => undefined
  replaceNextPut(store, (_, proceed) => {
    sendLate = proceed
    return loseAnswer()
  })
  await storage.append("a", linesOf(2), { expect: 0 })
  await storage.delete("a")
  expect(sendLate).toThrow(/412/)
  expect(await openStorage(bucket).storage.head("a")).toBeUndefined()
})

test("a creation whose answer is lost is not repeated once the session has been deleted", async () => {
  const { storage, store, bucket } = openStorage()
  replaceNextPut(store, async (_, proceed) => {
    proceed()
    await openStorage(bucket).storage.delete("a")
    return proceed()
  })
  await expect(storage.append("a", linesOf(2), { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
  expect(await storage.head("a")).toBeUndefined()
})

test("a creation that a proxy repeats is not repeated after others have deleted the session, created it again and deleted that", async () => {
  for (const times of [1, 2, 5]) {
    const { storage, store, bucket } = openStorage()
    const other = openStorage(bucket).storage
    replaceNextPut(store, async (_, proceed) => {
      proceed()
      await other.delete("a")
      for (let n = 0; n < times; n++) {
        await other.append("a", linesOf(1), { expect: 0 })
        await other.delete("a")
      }
      return proceed()
    })
    await expect(storage.append("a", linesOf(2), { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
    expect(await other.head("a")).toBeUndefined()
    // A process that has not tried before creates it at its first try.
    expect(await openStorage(bucket).storage.append("a", linesOf(2), { expect: 0 })).toMatchObject({ next: 2 })
  }
})

test("a creation that a proxy repeats is recognized after its log was replaced and the session deleted", async () => {
  const { storage, store, bucket } = openStorage()
  const other = openStorage(bucket).storage
  replaceNextPut(store, async (_, proceed) => {
    proceed()
    const { next, log } = (await other.head("a")) ?? { next: 0, log: "" }
    const replaced = (async function* () {
      yield { from: 0, lines: linesOf(1, 50) }
    })()
    await other.replace?.("a", replaced, { expect: { next, log } })
    await other.delete("a")
    return proceed()
  })
  await expect(storage.append("a", linesOf(2), { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
  expect(await storage.head("a")).toBeUndefined()
})

test("a deletion that is slow to remove its objects leaves those of a session created since", async () => {
  const { storage, store, bucket } = openStorage(undefined, SMALL_SIZES)
  const other = openStorage(bucket, SMALL_SIZES).storage
  await storage.append("a", linesOf(20), { expect: 0 })
  store.fault = async (call, proceed) => {
    if (call.method !== "list") return proceed()
    store.fault = undefined
    await other.append("a", linesOf(2), { expect: 0 })
    await other.delete("a")
    await other.append("a", linesOf(20, 100), { expect: 0 })
    await other.docs.put("sessions/a/x", "{}", { expect: null })
    return proceed()
  }
  expect(await storage.delete("a")).toMatchObject({ purged: true })
  expect(await readLines(openStorage(bucket).storage, "a")).toEqual(linesOf(20, 100))
  expect((await other.docs.get("sessions/a/x"))?.text).toBe("{}")
})

test("a creation in place of a tombstone that is refused although it was applied is not repeated after the session was deleted twice", async () => {
  const { storage, store, bucket } = openStorage()
  const other = openStorage(bucket).storage
  await storage.append("a", linesOf(1), { expect: 0 })
  await storage.delete("a")
  replaceNextPut(store, async (_, proceed) => {
    proceed()
    await other.delete("a")
    await other.append("a", linesOf(1), { expect: 0 })
    await other.delete("a")
    return proceed()
  })
  await expect(storage.append("a", linesOf(2), { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
  expect(await other.head("a")).toBeUndefined()
})

test("a deletion whose answer is lost does not delete the session created after it", async () => {
  const { storage, store, bucket } = openStorage(undefined, SMALL_SIZES)
  await storage.append("a", linesOf(2), { expect: 0 })
  const other = openStorage(bucket, SMALL_SIZES).storage
  replaceNextPut(store, async (_, proceed) => {
    proceed()
    await other.append("a", linesOf(20, 100), { expect: 0 })
    await other.docs.put("sessions/a/x", "{}", { expect: null })
    loseAnswer()
  })
  expect(await storage.delete("a")).toMatchObject({ bytes: 4_096 })
  expect(await readLines(other, "a")).toEqual(linesOf(20, 100))
  expect((await other.docs.get("sessions/a/x"))?.text).toBe("{}")
})

test("a document whose answer is lost is committed if one write followed, and indeterminate if two did", async () => {
  for (const times of [1, 2]) {
    const { storage, store, bucket } = openStorage()
    const other = openStorage(bucket).storage
    replaceNextPut(
      store,
      async (_, proceed) => {
        proceed()
        for (let n = 0; n < times; n++) {
          const found = await other.docs.get("x")
          await other.docs.put("x", `after ${n}`, { expect: found?.version ?? null })
        }
        return loseAnswer()
      },
      "docs/",
    )
    const putting = storage.docs.put("x", "first", { expect: null })
    if (times === 1) expect(await putting).toBe("v:first")
    else await expect(putting).rejects.toMatchObject({ code: "indeterminate" })
    expect((await other.docs.get("x"))?.text).toBe(`after ${times - 1}`)
  }
})

test("a document whose write is repeated by a proxy is never a conflict, however many writes came between", async () => {
  for (const between of [1, 2, 3]) {
    const { storage, store, bucket } = openStorage()
    const other = openStorage(bucket).storage
    const version = await other.docs.put("x", "before", { expect: null })
    replaceNextPut(
      store,
      async (_, proceed) => {
        proceed()
        for (let n = 0; n < between; n++) {
          const found = await other.docs.get("x")
          await other.docs.put("x", `after ${n}`, { expect: found?.version ?? null })
        }
        return proceed()
      },
      "docs/",
    )
    const putting = storage.docs.put("x", "mine", { expect: version })
    if (between === 1) expect(await putting).toBe("v:mine")
    else await expect(putting).rejects.toMatchObject({ code: "indeterminate" })
  }
})

test("a document whose request is lost is a conflict if another write took its place", async () => {
  const { storage, store, bucket } = openStorage()
  const other = openStorage(bucket).storage
  const version = await other.docs.put("x", "before", { expect: null })
  replaceNextPut(
    store,
    async () => {
      await other.docs.put("x", "another", { expect: version })
      return loseAnswer()
    },
    "docs/",
  )
  await expect(storage.docs.put("x", "mine", { expect: version })).rejects.toMatchObject({ code: "conflict" })
  expect((await other.docs.get("x"))?.text).toBe("another")
})

test("a deletion of a blob whose answer is lost is reported as done", async () => {
  const { storage, store } = openStorage()
  const hash = await storage.blobs.put(new Uint8Array(3))
  replaceNextPut(
    store,
    (_, proceed) => {
      proceed()
      return loseAnswer()
    },
    "blobs/",
  )
  expect(await storage.blobs.delete(hash)).toBe(true)
  expect(await storage.blobs.delete(hash)).toBe(false)
})

test("an append that is aborted before its write sends nothing more and does not block the next one", async () => {
  const { storage, bucket } = openStorage()
  const head = await storage.append("a", linesOf(1), { expect: 0 })
  const fresh = openStorage(bucket, { requestTimeout: 60_000 })
  const controller = new AbortController()
  let requestSignal: AbortSignal | undefined
  fresh.store.fault = (_call, _proceed, signal) => {
    requestSignal = signal
    fresh.store.fault = undefined
    controller.abort()
    return new Promise(() => undefined)
  }
  const append = fresh.storage.append("a", [lineOf(1)], { expect: head, signal: controller.signal })
  const error: unknown = await append.catch((one: unknown) => one)
  expect(error).toMatchObject({ code: "aborted" })
  expect(error).not.toHaveProperty("sent")
  expect(await fresh.storage.append("a", [lineOf(1)], { expect: head })).toMatchObject({ next: 2 })
  expect(requestSignal?.aborted).toBe(true)
  expect(await readLines(storage, "a")).toEqual(linesOf(2))
})

test("a store that throttles is asked again until patience is over", async () => {
  const { storage, store } = openStorage(undefined, { patience: 60_000 })
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
  const impatient = openStorage(undefined, { patience: 100 })
  impatient.store.fault = store.fault
  await expect(impatient.storage.head("a")).rejects.toMatchObject({ code: "unavailable" })
})
