/** Requests that arrive twice, as proxies and browsers send them: nothing is done twice, and nothing after it was refused. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Handler } from "../src/server.ts"
import { codeOf, handlerOf, linesOf, URL_OF_STORAGE, type Wire, wire } from "./wire.ts"

type Sent = readonly [url: string, init: RequestInit]

/** Records the writes that pass. */
function record(on: Wire): Sent[] {
  const writes: Sent[] = []
  const { fetch } = on
  on.fetch = (url, init) => {
    if (init.method !== "GET") writes.push([url, init])
    return fetch(url, init)
  }
  return writes
}

async function repeat(handler: Handler, [url, init]: Sent = ["", {}]): Promise<readonly [number, unknown]> {
  const response = await handler(new Request(url, init))
  return [response.status, await response.json()]
}

test("a repeated append gets the head of the first, also after later appends, and its lines are there once", async () => {
  const on = await wire()
  const writes = record(on)
  const created = await on.storage.append("a", ["1"], { expect: 0 })
  const second = await on.storage.append("a", ["2"], { expect: created })
  await on.storage.append("a", ["3"], { expect: second })
  expect(await repeat(on.handler, writes[0])).toEqual([200, created])
  expect(await repeat(on.handler, writes[1])).toEqual([200, second])
  expect(await linesOf(on.behind)).toEqual(["1", "2", "3"])
})

test("an append and its repeat that arrive at once write once", async () => {
  const on = await wire()
  const { fetch } = on
  on.fetch = async (url, init) => {
    const [, second] = await Promise.all([fetch(url, init), fetch(url, init)])
    return second
  }
  const head = await on.storage.append("a", ["1"], { expect: 0 })
  await on.storage.append("a", ["2"], { expect: head })
  expect(await linesOf(on.behind)).toEqual(["1", "2"])
})

test("the repeat of a refused append stays refused, also if the log has come to its place", async () => {
  const on = await wire()
  const writes = record(on)
  const head = await on.storage.append("a", ["1"], { expect: 0 })
  const early = on.storage.append("a", ["late"], { expect: { ...head, next: 2 } })
  expect(await codeOf(early)).toBe("conflict")
  await on.storage.append("a", ["2"], { expect: head })
  expect((await repeat(on.handler, writes[1]))[0]).toBe(409)
  expect(await linesOf(on.behind)).toEqual(["1", "2"])
})

test("a repeated append that reaches another server is recognized by its lines", async () => {
  const on = await wire()
  const writes = record(on)
  const head = await on.storage.append("a", ["1", "2"], { expect: 0 })
  const second = await on.storage.append("a", ["3"], { expect: head })
  await on.storage.append("a", ["4"], { expect: second })
  const other = handlerOf(createMemoryStorage({ location: on.location }))
  expect(await repeat(other, writes[0])).toEqual([200, head])
  expect(await repeat(other, writes[1])).toEqual([200, second])
  expect(await linesOf(on.behind)).toEqual(["1", "2", "3", "4"])
})

test("equal lines of another append are a conflict, not a repeat", async () => {
  const on = await wire()
  const head = await on.storage.append("a", ["1"], { expect: 0 })
  await on.storage.append("a", ["2"], { expect: head })
  expect(await codeOf(on.storage.append("a", ["1"], { expect: 0 }))).toBe("conflict")
  expect(await codeOf(on.storage.append("a", ["2"], { expect: head }))).toBe("conflict")
  const elsewhere = handlerOf(createMemoryStorage({ location: on.location }))
  const other = await wire()
  other.fetch = (url, init) => elsewhere(new Request(url, init))
  expect(await codeOf(other.storage.append("a", ["1", "x"], { expect: 0 }))).toBe("conflict")
  expect(await codeOf(other.storage.append("a", ["x"], { expect: head }))).toBe("conflict")
})

test("a refused append whose lines cannot be looked for is `indeterminate`", async () => {
  const on = await wire()
  await on.storage.append("a", ["1"], { expect: 0 })
  const broken = {
    ...on.behind,
    head: () => Promise.reject(Object.assign(new Error("no connection"), { code: "unavailable" })),
  }
  const handler = handlerOf(broken)
  on.fetch = (url, init) => handler(new Request(url, init))
  expect(await codeOf(on.storage.append("a", ["2"], { expect: 0 }))).toBe("indeterminate")
})

test("a repeated delete does not delete the session that was created since", async () => {
  const on = await wire()
  const writes = record(on)
  await on.storage.append("a", ["old"], { expect: 0 })
  const deleted = await on.storage.delete("a")
  await on.storage.append("a", ["new"], { expect: 0 })
  expect(await repeat(on.handler, writes[1])).toEqual([200, deleted])
  expect(await linesOf(on.behind)).toEqual(["new"])
})

test("a repeated change of a document succeeds and changes nothing later, here and through another server", async () => {
  const on = await wire()
  const writes = record(on)
  const { docs } = on.storage
  const first = await docs.put("d", "1", { expect: null })
  const other = handlerOf(createMemoryStorage({ location: on.location }))
  expect((await repeat(on.handler, writes[0]))[0]).toBe(200)
  expect((await repeat(other, writes[0]))[0]).toBe(200)
  const second = await docs.put("d", "2", { expect: first })
  await docs.delete("d", { expect: second })
  expect((await repeat(on.handler, writes[0]))[0]).toBe(200)
  expect((await repeat(on.handler, writes[1]))[0]).toBe(200)
  expect((await repeat(on.handler, writes[2]))[0]).toBe(200)
  expect(await on.behind.docs.get("d")).toBe(undefined)
})

test("equal texts of another change are a conflict", async () => {
  const { docs } = (await wire()).storage
  const version = await docs.put("d", "1", { expect: null })
  expect(await codeOf(docs.put("d", "1", { expect: null }))).toBe("conflict")
  await docs.put("d", "2", { expect: version })
  expect(await codeOf(docs.put("d", "2", { expect: version }))).toBe("conflict")
})

test("a repeated delete of a blob does not delete the one that was put since", async () => {
  const on = await wire()
  const writes = record(on)
  const hash = await on.storage.blobs.put(new Uint8Array([1]))
  expect(await on.storage.blobs.delete(hash)).toBe(true)
  await on.storage.blobs.put(new Uint8Array([1]))
  expect(await repeat(on.handler, writes[1])).toEqual([200, { deleted: true }])
  expect(await on.behind.blobs.has(hash)).toBe(true)
})

test("the ids of writes are those of one storage: another principal's request with the same id is a write of its own", async () => {
  const storages = new Map(["one", "two"].map((name) => [name, createMemoryStorage()]))
  const handler = handlerOf(createMemoryStorage(), {
    authorize: (request) => request.headers.get("authorization"),
    storage: (name) => storages.get(name) ?? createMemoryStorage(),
  })
  for (const name of ["one", "two"]) {
    const init: RequestInit = {
      method: "POST",
      body: '{"expect":0,"lines":1}\nx\n',
      headers: { authorization: name, "content-type": "application/x-ndjson", "idempotency-key": "same" },
    }
    expect((await repeat(handler, [`${URL_OF_STORAGE}/sessions/a/lines`, init]))[0]).toBe(200)
  }
  for (const storage of storages.values()) expect(await linesOf(storage)).toEqual(["x"])
})
