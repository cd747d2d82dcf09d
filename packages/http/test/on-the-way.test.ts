/** What is on the way to the handler has limits, and may be slow: batches are divided, and only a pause ends a request. */
import { createSessions, type Sessions } from "@sessions/core"
import { copySession, exportSession, importSession, mergeSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { afterEach, expect, test, vi } from "vitest"
import { createHttpStorage } from "../src/client.ts"
import { codeOf, linesOf, type Wire, wire } from "./wire.ts"

afterEach(() => void vi.useRealTimers())

const message = (content: string) => ({ type: "message", message: { role: "user", content } }) as const
const NGINX = { "content-type": "text/html", server: "nginx/1.27.1" }

/** As nginx with its default of `client_max_body_size`. */
async function behindNginx(): Promise<Wire & { readonly refused: { count: number } }> {
  const on = await wire()
  const { fetch } = on
  const refused = { count: 0 }
  on.fetch = async (url, init) => {
    if (((init.body as string | undefined)?.length ?? 0) <= 1_048_576) return fetch(url, init)
    refused.count++
    return new Response("<h1>413 Request Entity Too Large</h1>", { status: 413, headers: NGINX })
  }
  return Object.assign(on, { refused })
}

test("appends that a proxy refuses together with 413 are sent in smaller batches", async () => {
  const { storage, refused } = await behindNginx()
  const session = await createSessions({ storage }).create({ id: "chat" })
  const appends = Array.from({ length: 300 }, (_, n) => session.append(message(`${n} ${"x".repeat(10_000)}`)))
  await Promise.all(appends)
  expect((await session.info()).messageCount).toBe(300)
  expect(refused.count).toBeLessThan(5)
})

/** A session of 4 MB, elsewhere. */
async function longSession(id: string): Promise<Sessions> {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ id })
  for (let n = 0; n < 8; n++)
    await session.append(Array.from({ length: 50 }, (_, k) => message(`${n} ${k} ${"x".repeat(10_000)}`)))
  await session.close()
  return sessions
}

test("a copy, an import and a merge that a proxy refuses with 413 go in parts", async () => {
  const { storage, behind, refused } = await behindNginx()
  const sessions = createSessions({ storage })
  const local = await longSession("long")
  const original = await linesOf(local.storage, "long")

  await copySession(local, "long", storage)
  const [header = "", ...copied] = await linesOf(behind, "long")
  expect(copied).toEqual(original.slice(1))
  // Until all parts are there, it is no whole log.
  expect(JSON.parse(header)).toMatchObject({ origin: { lines: original.length } })
  expect((await sessions.list()).sessions).toMatchObject([{ id: "long", messageCount: 400 }])

  const { id } = await importSession(sessions, await textOf(exportSession(local, "long")), { id: "imported" })
  expect((await (await sessions.open(id)).info()).messageCount).toBe(400)
  expect((await behind.head(id))?.next).toBe(original.length)

  const other = await local.open("long")
  for (let n = 0; n < 2; n++)
    await other.append(Array.from({ length: 100 }, (_, k) => message(`more ${n} ${k} ${"x".repeat(10_000)}`)))
  await other.close()
  expect(await mergeSession(local, "long", storage)).toMatchObject({ sent: 200, received: 0 })
  expect((await linesOf(behind, "long")).length).toBe(original.length + 200)
  expect(refused.count).toBeLessThan(20)
})

test("a copy in parts that ends before its last one is incomplete, and the same call completes it", async () => {
  const on = await behindNginx()
  const { fetch } = on
  let appends = 0
  on.fetch = async (url, init) => {
    if (init.method === "POST" && /\/lines(\?|$)/.test(url) && ++appends > 4) throw new TypeError("fetch failed")
    return fetch(url, init)
  }
  const local = await longSession("long")
  const count = (await linesOf(local.storage, "long")).length
  await expect(copySession(local, "long", on.storage)).rejects.toMatchObject({ code: "indeterminate" })
  const part = (await on.behind.head("long"))?.next ?? 0
  expect(part).toBeGreaterThan(1)
  expect(part).toBeLessThan(count)
  expect((await createSessions({ storage: on.behind }).list()).sessions).toMatchObject([{ incomplete: true }])
  on.fetch = fetch
  await copySession(local, "long", on.storage)
  expect((await on.behind.head("long"))?.next).toBe(count)
})

test("a line that alone is refused with 413 is `too_large`, and the sentence names the proxy and its limit", async () => {
  const { storage, behind } = await behindNginx()
  const session = await createSessions({ storage }).create({ id: "chat" })
  const error = await session.append(message("x".repeat(2_000_000))).catch((error: unknown) => error as Error)
  expect(error).toMatchObject({ code: "too_large" })
  expect(String(error)).toMatch(/\(nginx\) refuses a body of 2000\d+ bytes \(413\).*`client_max_body_size`/)
  await session.append(message("small"))
  expect(await codeOf(storage.blobs.put(new Uint8Array(2_000_000)))).toBe("too_large")
  expect((await behind.head("chat"))?.next).toBe(2)
})

test("a 413 after the append was done is no refusal", async () => {
  const on = await wire()
  const { fetch } = on
  on.fetch = async (url, init) => {
    const answer = await fetch(url, init)
    return init.method === "POST" ? new Response("", { status: 413 }) : answer
  }
  expect(await codeOf(on.storage.append("a", ["x"], { expect: 0 }))).toBe("indeterminate")
})

test("`timeout` counts from the last piece of an answer", async () => {
  const on = await wire()
  const bytes = new Uint8Array(100_000)
  const hash = await on.behind.blobs.put(bytes)
  const { fetch } = on
  let pause = 0
  const slow = createHttpStorage({
    url: "http://host/storage",
    capabilities: on.storage.capabilities,
    async fetch(url, init) {
      const answer = await fetch(url, init)
      if (!url.includes("/blobs/")) return answer
      const whole = new Uint8Array(await answer.arrayBuffer())
      let at = 0
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => init.signal?.addEventListener("abort", () => controller.error(init.signal?.reason)),
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, pause))
          if (init.signal?.aborted === true) return
          if (at === whole.length) return controller.close()
          controller.enqueue(whole.slice(at, (at += 20_000)))
        },
      })
      return new Response(body, { status: answer.status, headers: answer.headers })
    },
  })
  await slow.head("a")
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  pause = 50_000
  const whole = slow.blobs.get(hash)
  await vi.advanceTimersByTimeAsync(400_000)
  expect((await whole)?.length).toBe(100_000)
  pause = 61_000
  const late = codeOf(slow.blobs.get(hash))
  await vi.advanceTimersByTimeAsync(130_000)
  expect(await late).toBe("unavailable")
})

test("a large body has time to be sent at half a megabit a second; a small one has not", async () => {
  const on = await wire()
  const { fetch } = on
  let delay = 0
  on.fetch = (url, init) =>
    new Promise((resolve, reject) => {
      init.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error))
      setTimeout(() => resolve(fetch(url, init)), delay)
    })
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  delay = 200_000
  const large = codeOf(on.storage.docs.put("large", "x".repeat(10_000_000), { expect: null }))
  const small = codeOf(on.storage.docs.put("small", "x", { expect: null }))
  await vi.advanceTimersByTimeAsync(210_000)
  expect([await large, await small]).toEqual(["done", "indeterminate"])
})

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ""
  for await (const piece of pieces) text += piece
  return text
}
