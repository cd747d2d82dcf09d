/** Watching over HTTP: one connection for each session, which is made again when it breaks. */
import type { Head } from "@sessions/core/storage"
import { expect, test, vi } from "vitest"
import { codeOf, type Wire, wire } from "./wire.ts"

/** The connections of watches: how many were made, and their ends. */
function connectionsOf(on: Wire): { made: number; open: number; readonly cut: (() => void)[] } {
  const connections = { made: 0, open: 0, cut: [] as (() => void)[] }
  const { fetch } = on
  on.fetch = async (url, init) => {
    if (!url.endsWith("/watch")) return fetch(url, init)
    const response = await fetch(url, init)
    connections.made++
    connections.open++
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const broken = new AbortController()
    connections.cut.push(() => broken.abort(new Error("cut")))
    response.body
      ?.pipeTo(writable, { signal: broken.signal })
      .catch(() => undefined)
      .finally(() => connections.open--)
    return new Response(readable)
  }
  return connections
}

function watchOf(on: Wire): AsyncIterator<Head> {
  const heads = on.storage.watch?.("a")
  if (heads === undefined) throw new Error("the storage has no watch")
  return heads[Symbol.asyncIterator]()
}

/** The first report with at least so many lines. A watch may first report the head that it found. */
async function firstFrom(heads: AsyncIterator<Head>, lines: number): Promise<Head> {
  for (;;) {
    const { value } = await heads.next()
    if (value === undefined || value.next >= lines) return value
  }
}

test("a change directly after the call is reported, although the connection is not there yet", async () => {
  const on = await wire()
  const { fetch } = on
  let head = await on.behind.append("a", ["1"], { expect: 0 })
  // The head is answered after the change, and the connection is not made.
  on.fetch = async (url, init) => {
    on.fetch = async (later, o) => (later.endsWith("/watch") ? new Promise(() => undefined) : fetch(later, o))
    head = await on.behind.append("a", ["2"], { expect: head })
    return fetch(url, init)
  }
  expect(await Promise.race([watchOf(on).next(), turns()])).toMatchObject({ value: { next: 2 } })
})

/** Many turns of the event loop: what waits for nothing has happened then. */
async function turns(): Promise<void> {
  for (let n = 0; n < 200; n++) await new Promise((resolve) => void setTimeout(resolve, 1))
}

test("watchers of one session share a connection, which ends with the last of them", async () => {
  const on = await wire()
  const connections = connectionsOf(on)
  let head = await on.behind.append("a", ["1"], { expect: 0 })
  const watchers = [watchOf(on), watchOf(on), watchOf(on)]
  const news = watchers.map((heads) => firstFrom(heads, 2))
  head = await on.behind.append("a", ["2"], { expect: head })
  for (const one of await Promise.all(news)) expect(one).toMatchObject({ next: head.next, log: head.log })
  expect(connections.made).toBe(1)
  for (const heads of watchers) await heads.return?.()
  await expect.poll(() => connections.open).toBe(0)
})

test("after a connection broke, the appends of the meantime are reported", async () => {
  const on = await wire()
  const connections = connectionsOf(on)
  const head = await on.behind.append("a", ["1"], { expect: 0 })
  const heads = watchOf(on)
  const first = firstFrom(heads, 2)
  const second = await on.behind.append("a", ["2"], { expect: head })
  expect(await first).toMatchObject({ next: second.next, log: second.log })
  const next = heads.next()
  connections.cut[0]?.()
  const third = await on.behind.append("a", ["3"], { expect: second })
  expect((await next).value).toMatchObject({ next: third.next, log: third.log })
  const last = heads.next()
  await expect.poll(() => connections.made).toBe(2)
  const fourth = await on.behind.append("a", ["4"], { expect: third })
  expect((await last).value).toMatchObject({ next: fourth.next, log: fourth.log })
  await heads.return?.()
})

test("a watch ends when its session is deleted, and is `unavailable` while the server is away", async () => {
  const on = await wire()
  await on.behind.append("a", ["1"], { expect: 0 })
  const heads = watchOf(on)
  const end = heads.next()
  await on.behind.delete("a")
  expect(await end).toEqual({ done: true, value: undefined })
  on.fetch = () => Promise.reject(new TypeError("fetch failed"))
  expect(await codeOf(watchOf(on).next())).toBe("unavailable")
})

test("a server that ends each connection after its first piece is connected to more and more seldom", async () => {
  const on = await wire()
  await on.behind.append("a", ["1"], { expect: 0 })
  const { fetch } = on
  const times: number[] = []
  on.fetch = async (url, init) => {
    if (!url.endsWith("/watch")) return fetch(url, init)
    times.push(Date.now())
    return new Response("event: head\ndata: null\n\n", { headers: { "content-type": "text/event-stream" } })
  }
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] })
  try {
    const heads = watchOf(on)
    const first = heads.next()
    await vi.advanceTimersByTimeAsync(120_000)
    await first
    const ended = heads.return?.()
    await vi.advanceTimersByTimeAsync(60_000)
    await ended
    expect(times.length).toBeGreaterThan(2)
    expect(times.length).toBeLessThan(15)
  } finally {
    vi.useRealTimers()
  }
})
