/** The protocol of a storage: capabilities, bodies, pages, lists, blobs, and what the client makes of other answers. */
import { createSessions } from "@sessions/core"
import { toUtf8 } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createDice } from "../../core/test/dice.ts"
import { seed } from "../../core/test/property.ts"
import { connectHttpStorage, createHttpStorage } from "../src/client.ts"
import { storageOpenApi, storageRoutes } from "../src/server.ts"
import { codeOf, handlerOf, linesOf, URL_OF_STORAGE, wire } from "./wire.ts"

const BIG = "x".repeat(40_000)

test("connecting asks for the capabilities; a limit of the handler is a limit of the storage, and `replace` is not offered", async () => {
  const { storage, behind } = await wire({ limits: { batchBytes: 1_000 } })
  const limits = { maxBatchBytes: 1_000, maxLineBytes: 999 }
  expect(storage.capabilities).toEqual({ ...behind.capabilities, ...limits, writers: "any", replace: false })
  expect("replace" in storage).toBe(false)
  expect(storage.description).toBe("http://host/storage")
})

test("given capabilities are compared at the first use: a wrong promise is `invalid`, lower limits are not", async () => {
  const { storage, handler } = await wire()
  const open = (capabilities: typeof storage.capabilities): Promise<unknown> =>
    createHttpStorage({
      url: URL_OF_STORAGE,
      capabilities,
      fetch: (url, init) => handler(new Request(url, init)),
    }).head("a")
  expect(await codeOf(open(storage.capabilities))).toBe("done")
  expect(await codeOf(open({ ...storage.capabilities, maxBatchBytes: 5 }))).toBe("done")
  expect(await codeOf(open({ ...storage.capabilities, durability: "disk" }))).toBe("invalid")
  expect(await codeOf(open({ ...storage.capabilities, maxBatchBytes: 1e12 }))).toBe("invalid")
})

test("wrong options of the client are `invalid`", () => {
  const { capabilities } = createMemoryStorage()
  for (const wrong of [
    { url: "host" },
    { url: "ftp://host" },
    { url: "http://host/?a" },
    { timeout: 0 },
    { header: {} },
  ])
    expect(() => createHttpStorage({ url: "http://host", capabilities, ...wrong })).toThrow(/^createHttpStorage/)
  expect(() => createHttpStorage({ url: "http://host" } as never)).toThrow(/capabilities/)
})

test("wrong options of the handler are `invalid`", () => {
  const storage = createMemoryStorage()
  for (const wrong of [{ storage: undefined }, { limits: { blobBytes: 0 } }, { limits: { blob: 1 } }, { path: "/" }])
    expect(() => handlerOf(storage, wrong as never)).toThrow(/^createStorageHandler/)
})

test("a body that is cut off, is not UTF-8 or has a BOM in place of its head is 400, and nothing is written", async () => {
  const { behind, handler } = await wire()
  const append = async (body: BodyInit): Promise<number> => {
    const headers = { "content-type": "application/x-ndjson" }
    return (await handler(new Request(`${URL_OF_STORAGE}/sessions/a/lines`, { method: "POST", body, headers }))).status
  }
  const head = '{"expect":0,"lines":2}\n'
  for (const wrong of ["", head, `${head}1\n`, `${head}1\n2`, `${head}1\n2\n3\n`, `\ufeff${head}1\n2\n`, "x\n1\n2\n"])
    expect([wrong, await append(wrong)]).toEqual([wrong, 400])
  for (const wrong of ['{"expect":1,"lines":1}', '{"lines":1}', '{"expect":0,"lines":1,"more":1}', "null"])
    expect([wrong, await append(`${wrong}\n1\n`)]).toEqual([wrong, 400])
  expect(await append(new Uint8Array([...toUtf8(head), 0x31, 0x0a, 0xff, 0x0a]))).toBe(400)
  expect(await behind.head("a")).toBe(undefined)
  expect(await append(`${head}\ufeff1\n\ufeff\n`)).toBe(200)
  expect(await linesOf(behind)).toEqual(["\ufeff1", "\ufeff"])
})

test("a batch over the limit of the handler is refused by the client, and by the handler with 413", async () => {
  const { storage, handler } = await wire({ limits: { batchBytes: 1_000 } })
  expect(await codeOf(storage.append("a", [BIG], { expect: 0 }))).toBe("invalid")
  const body = `{"expect":0,"lines":1}\n${"x".repeat(70_000)}\n`
  const init = { method: "POST", body, headers: { "content-type": "application/x-ndjson" } }
  expect((await handler(new Request(`${URL_OF_STORAGE}/sessions/a/lines`, init))).status).toBe(413)
})

test("a long log comes in pages of 1 MB and then 4 MB, without what is appended meanwhile, in chunks of at most 256 KB", async () => {
  const { storage, behind, sent } = await wire()
  const lines = Array.from({ length: 350 }, (_, n) => `${n} ${BIG}`)
  const head = await behind.append("a", lines, { expect: 0 })
  const read: string[] = []
  for await (const chunk of storage.read("a")) {
    expect(chunk.from).toBe(read.length)
    expect(chunk.lines.join("\n").length).toBeLessThan(262_144)
    if (read.length === 0) await behind.append("a", ["later"], { expect: head })
    read.push(...chunk.lines)
  }
  expect(read).toEqual(lines)
  // Five pages, and a look whether the log is still there.
  expect(sent.length).toBe(6)
  expect(sent.slice(1).every((request) => request.includes(`log=${head.log}`))).toBe(true)
})

test("a log that is replaced between two pages is a conflict: no page is of the new log", async () => {
  const { storage, behind } = await wire()
  const lines = Array.from({ length: 350 }, (_, n) => `${n} ${BIG}`)
  await behind.append("a", lines, { expect: 0 })
  const read: string[] = []
  const reading = (async () => {
    for await (const chunk of storage.read("a")) {
      if (read.length === 0) {
        await behind.delete("a")
        await behind.append("a", lines.toReversed(), { expect: 0 })
      }
      read.push(...chunk.lines)
    }
  })()
  // The page after this one was asked for before the first chunk was taken.
  expect(await codeOf(reading)).toBe("conflict")
  expect(read).toEqual(lines.slice(0, read.length))
})

test("a log that is deleted after its last page was fetched is a conflict, if the read has several pages", async () => {
  const on = await wire()
  // Two pages.
  const lines = Array.from({ length: 100 }, (_, n) => `${n} ${BIG}`)
  await on.behind.append("a", lines, { expect: 0 })
  let fetched = (): void => undefined
  const second = new Promise<void>((resolve) => (fetched = resolve))
  const { fetch } = on
  on.fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (url.includes("log=")) fetched()
    return response
  }
  const reading = (async () => {
    for await (const chunk of on.storage.read("a")) {
      if (chunk.from > 0) continue
      await second
      await on.behind.delete("a")
    }
  })()
  expect(await codeOf(reading)).toBe("conflict")
})

test("a page that fails in the middle of a read is fetched again, the first one is not", async () => {
  const on = await wire()
  const lines = Array.from({ length: 250 }, (_, n) => `${n} ${BIG}`)
  await on.behind.append("a", lines, { expect: 0 })
  const { fetch } = on
  let failures = 2
  on.fetch = (url, init) =>
    url.includes("from=") && !url.includes("from=0") && failures-- > 0
      ? Promise.reject(new TypeError("failed"))
      : fetch(url, init)
  expect(await linesOf(on.storage)).toEqual(lines)
  on.fetch = () => Promise.reject(new TypeError("failed"))
  on.sent.length = 0
  expect(await codeOf(linesOf(on.storage))).toBe("unavailable")
  expect(on.sent.length).toBe(1)
})

test("a page that was cut off may be a shorter one when it is fetched again: no line is missing or twice", async () => {
  const on = await wire()
  const lines = Array.from({ length: 250 }, (_, n) => `${n} ${BIG}`)
  await on.behind.append("a", lines, { expect: 0 })
  const { fetch } = on
  let second: string | undefined
  on.fetch = async (url, init) => {
    if (second === undefined && url.includes("log=")) {
      second = url
      const whole = new Uint8Array(await (await fetch(url, init)).arrayBuffer())
      return new Response(whole.subarray(0, whole.length / 2))
    }
    return fetch(url === second ? url.replace(/pageBytes=\d+/, "pageBytes=1") : url, init)
  }
  expect(await linesOf(on.storage)).toEqual(lines)
})

test("a page may arrive in pieces of any size", async () => {
  const on = await wire()
  console.info(`SEED=${seed}`)
  const dice = createDice(seed)
  const lines = Array.from({ length: 200 }, (_, n) => `${n} ${"ä€😀".repeat(dice.pick([0, 1, 9, 900, 9_000]))}`)
  lines.push("x".repeat(600_000), "last")
  await on.behind.append("a", lines, { expect: 0 })
  const { fetch } = on
  on.fetch = async (url, init) => {
    const whole = new Uint8Array(await (await fetch(url, init)).arrayBuffer())
    const most = dice.pick([100, 3_000, 70_000, 1_000_000])
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === whole.length) return controller.close()
        const piece = whole.subarray(at, at + 1 + dice.below(most))
        at += piece.length
        controller.enqueue(piece)
      },
    })
    return new Response(body)
  }
  const read: string[] = []
  for await (const chunk of on.storage.read("a")) {
    expect(chunk.from).toBe(read.length)
    if (chunk.lines.length > 1) expect(toUtf8(chunk.lines.join("\n")).length).toBeLessThan(262_144)
    read.push(...chunk.lines)
  }
  expect(read).toEqual(lines)
})

test("a page or a list that was cut off, and an answer of another server, are `unavailable`, never data", async () => {
  const on = await wire()
  await on.behind.append("a", ["1", "2"], { expect: 0 })
  await on.behind.docs.put("d", "text", { expect: null })
  const hash = await on.behind.blobs.put(toUtf8("blob"))
  const calls = (): readonly Promise<unknown>[] => [
    linesOf(on.storage),
    collect(on.storage.list()),
    collect(on.storage.docs.list()),
    collect(on.storage.blobs.list()),
    on.storage.head("a"),
    on.storage.docs.get("d"),
    on.storage.blobs.get(hash),
    on.storage.blobs.has(hash),
  ]
  expect(await Promise.all(calls().map(codeOf))).toEqual(Array(8).fill("done"))
  const { fetch } = on
  on.fetch = async (url, init) => {
    const whole = new Uint8Array(await (await fetch(url, init)).arrayBuffer())
    return new Response(whole.subarray(0, whole.length - 3))
  }
  expect(await Promise.all(calls().map(codeOf))).toEqual(Array(8).fill("unavailable"))
  for (const body of ["<html>Please log in</html>", "", "{}"]) {
    on.fetch = async () => new Response(body, { status: 404 })
    expect(await Promise.all(calls().map(codeOf))).toEqual(Array(8).fill("unavailable"))
  }
  on.fetch = async () => new Response("<html>Please log in</html>")
  expect(await Promise.all(calls().map(codeOf))).toEqual(Array(8).fill("unavailable"))
})

const HOST = { "sessions-refused": "host" }

test("what is not the handler's own answer leaves a write open: it is `indeterminate` unless nothing was sent on", async () => {
  const on = await wire()
  const own = (status: number, code: string): Response => Response.json({ error: { code, message: "…" } }, { status })
  const answers: readonly (readonly [() => Response | Promise<Response>, string, string])[] = [
    [() => Promise.reject(new TypeError("fetch failed")), "indeterminate", "unavailable"],
    [() => Promise.reject(refused()), "unavailable", "unavailable"],
    [() => new Response("Bad gateway", { status: 502 }), "indeterminate", "unavailable"],
    [() => new Response("", { status: 500 }), "indeterminate", "unavailable"],
    [() => new Response("", { status: 503 }), "indeterminate", "unavailable"],
    [() => new Response("", { status: 503, headers: { "retry-after": "1" } }), "indeterminate", "unavailable"],
    [() => new Response("", { status: 429 }), "indeterminate", "unavailable"],
    [() => new Response("", { status: 401 }), "indeterminate", "unavailable"],
    // By the host's `authorize`.
    [() => new Response("", { status: 401, headers: HOST }), "misconfigured", "misconfigured"],
    [() => new Response("", { status: 403, headers: HOST }), "misconfigured", "misconfigured"],
    [() => new Response("", { status: 429, headers: HOST }), "unavailable", "unavailable"],
    [() => new Response("", { status: 413 }), "indeterminate", "unavailable"],
    [() => new Response("", { status: 507 }), "indeterminate", "quota"],
    [() => new Response("", { status: 409 }), "indeterminate", "unavailable"],
    [() => new Response("<html>", { status: 200 }), "indeterminate", "unavailable"],
    [() => new Response(null, { status: 204 }), "indeterminate", "unavailable"],
    [() => Response.json({}), "indeterminate", "unavailable"],
    [() => own(409, "conflict"), "conflict", "conflict"],
    [() => own(503, "indeterminate"), "indeterminate", "indeterminate"],
    [() => own(503, "unavailable"), "unavailable", "unavailable"],
    [() => own(507, "quota"), "quota", "quota"],
    [() => own(400, "invalid"), "invalid", "invalid"],
    [() => own(413, "too_large"), "too_large", "too_large"],
    [() => own(500, "corrupt"), "corrupt", "corrupt"],
    [() => own(500, "internal"), "indeterminate", "unavailable"],
    [() => own(404, "not_found"), "unavailable", "unavailable"],
    [() => own(409, "closed"), "unavailable", "unavailable"],
  ]
  for (const [n, [answer, write, read]] of answers.entries()) {
    on.fetch = async () => answer()
    const outcomes = [await codeOf(on.storage.append("a", ["x"], { expect: 0 })), await codeOf(on.storage.head("a"))]
    expect([n, ...outcomes]).toEqual([n, write, read])
  }
})

test("a `sync` whose answer is lost is `unavailable`: it changes nothing, so a session asks for it again", async () => {
  const memory = createMemoryStorage()
  let synced = 0
  const capabilities = { ...memory.capabilities, writers: "any", replace: false, sync: true } as const
  const handler = handlerOf({ ...memory, capabilities, sync: async () => void synced++ })
  let isLost = false
  const storage = createHttpStorage({
    url: URL_OF_STORAGE,
    capabilities,
    async fetch(url, init) {
      const answer = await handler(new Request(url, init))
      if (!isLost) return answer
      isLost = false
      throw new TypeError("fetch failed")
    },
  })
  const session = await createSessions({ storage }).create({ id: "a" })
  isLost = true
  expect(await codeOf(storage.sync?.("a") ?? Promise.resolve())).toBe("unavailable")
  isLost = true
  await session.flush()
  expect(synced).toBe(3)
})

test("a request without an answer fails after `timeout`", async () => {
  const { storage } = await wire()
  const silent = createHttpStorage({
    url: URL_OF_STORAGE,
    capabilities: storage.capabilities,
    timeout: 1,
    fetch: (_, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  })
  expect(await codeOf(silent.head("a"))).toBe("unavailable")
})

test("a call ends after `timeout` or by its signal also if the body of the answer never does", {
  timeout: 10_000,
}, async () => {
  const { storage, fetch } = await wire()
  for (const status of [200, 500]) {
    const stuck = createHttpStorage({
      url: URL_OF_STORAGE,
      capabilities: storage.capabilities,
      timeout: 20,
      // As that of Node 22, whose body does not notice its signal if the compression is damaged.
      fetch: async (url, init) =>
        url.endsWith("/capabilities")
          ? fetch(url, init)
          : new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), { status }),
    })
    expect(await codeOf(stuck.head("a"))).toBe("unavailable")
    expect(await codeOf(stuck.append("a", ["x"], { expect: 0 }))).toBe("indeterminate")
    expect(await codeOf(stuck.blobs.get("0".repeat(64)))).toBe("unavailable")
    const lines = async (): Promise<void> => {
      for await (const _ of stuck.read("a")) expect.unreachable()
    }
    expect(await codeOf(lines())).toBe("unavailable")
    expect(await codeOf(stuck.head("a", { signal: AbortSignal.timeout(1) }))).toBe("aborted")
    await stuck[Symbol.asyncDispose]()
  }
})

test("headers may be a function, which is asked for each request", async () => {
  const { handler } = await wire()
  let asked = 0
  const seen: unknown[] = []
  const storage = await connectHttpStorage({
    url: `${URL_OF_STORAGE}/`,
    headers: async () => ({ authorization: `token ${asked++}` }),
    credentials: "include",
    fetch: (url, init) => {
      const request = new Request(url, init)
      seen.push([request.headers.get("authorization"), request.redirect, request.credentials])
      return handler(request)
    },
  })
  await storage.head("a")
  expect(seen).toEqual([
    ["token 0", "manual", "include"],
    ["token 1", "manual", "include"],
  ])
})

test("a redirect is followed by no call: a read is `unavailable`, a write `indeterminate`, and both say where to and what to do", async () => {
  const on = await wire()
  let dropped = 0
  const body = () => new ReadableStream({ cancel: () => void dropped++ })
  // A login page, the same route elsewhere, the same address with another query, no address, and what a page gets.
  const answers: readonly { readonly at?: (asked: string) => string; readonly said: (path: string) => string }[] = [
    { at: () => "http://elsewhere/login?for=me", said: () => " (307) to http://elsewhere/login, {check}" },
    {
      at: (asked) => `${asked.replace(URL_OF_STORAGE, "https://user:secret@elsewhere/on")}?token=x`,
      said: (path) =>
        ` (307) to https://elsewhere/on${path}, which is not followed; use https://elsewhere/on as \`url\`.`,
    },
    { at: () => "?again", said: (path) => ` (307) to ${URL_OF_STORAGE}${path}, {check}` },
    { at: () => "http://[", said: () => " (307), {check}" },
    { said: () => ", {check}" },
  ]
  for (const { at, said } of answers) {
    on.fetch = async (asked, { redirect }) => {
      if (redirect !== "manual") throw new TypeError("followed")
      if (at === undefined) return Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" })
      return new Response(body(), { status: 307, headers: { location: at(asked) } })
    }
    const message = (path: string): string =>
      `The server answered with a redirect${said(path).replace("{check}", "which is not followed; check `url`.")}`
    const read = { code: "unavailable", message: message("/sessions/a/head") }
    await expect(on.storage.head("a")).rejects.toMatchObject(read)
    const unknown = "The write may have happened; read there what is there."
    const write = { code: "indeterminate", message: `${message("/sessions/a")} ${unknown}` }
    await expect(on.storage.delete("a")).rejects.toMatchObject(write)
  }
  // Else they keep their connections.
  expect(dropped).toBe(8)
})

test("blobs may be kept by the browser, but are asked for each time: a deleted one is gone", async () => {
  const { behind, handler } = await wire()
  const hash = await behind.blobs.put(toUtf8("blob"))
  const get = (headers: Record<string, string> = {}): Promise<Response> =>
    handler(new Request(`${URL_OF_STORAGE}/blobs/${hash}`, { headers }))
  const first = await get()
  expect([await first.text(), first.headers.get("cache-control"), first.headers.get("etag")]).toEqual([
    "blob",
    "private, no-cache",
    `"${hash}"`,
  ])
  expect((await get({ "if-none-match": `W/"${hash}"` })).status).toBe(304)
  await behind.blobs.delete(hash)
  expect((await get({ "if-none-match": `"${hash}"` })).status).toBe(404)
})

test("a blob must have the hash that it is put under, and the size that `blobBytes` allows", async () => {
  const { storage, behind, handler } = await wire({ limits: { blobBytes: 10 } })
  const hash = await storage.blobs.put(toUtf8("0123456789"))
  expect(await codeOf(storage.blobs.put(toUtf8("0123456789x")))).toBe("too_large")
  const init = { method: "PUT", body: "other", headers: { "content-type": "application/octet-stream" } }
  expect((await handler(new Request(`${URL_OF_STORAGE}/blobs/${hash}`, init))).status).toBe(400)
  expect(await collect(behind.blobs.list())).toHaveLength(1)
})

test("a list that the storage cannot continue ends with its error", async () => {
  const behind = createMemoryStorage()
  await behind.append("a", ["1"], { expect: 0 })
  const failing = {
    ...behind,
    async *list() {
      yield* behind.list()
      throw Object.assign(new Error("/srv/secret"), { code: "unavailable" })
    },
  }
  const errors: unknown[] = []
  const handler = handlerOf(failing, { onError: (error) => void errors.push(error) })
  const text = await (await handler(new Request(`${URL_OF_STORAGE}/sessions`))).text()
  expect(text).not.toContain("secret")
  expect(text).not.toContain('{"end":true}')
  expect(errors).toHaveLength(1)
  const storage = await connectHttpStorage({
    url: URL_OF_STORAGE,
    fetch: (url, init) => handler(new Request(url, init)),
  })
  expect(await codeOf(collect(storage.list()))).toBe("unavailable")
})

/** As Node's `fetch` reports a port on which nothing listens. */
function refused(): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) })
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const row of rows) all.push(row)
  return all
}

test("openapi-storage.json is what the routes say, with an operation for each", async () => {
  // Written by `pnpm test:unit packages/http/test/storage.test.ts -u`.
  await expect(`${JSON.stringify(storageOpenApi(), null, 2)}\n`).toMatchFileSnapshot("../openapi-storage.json")
  expect(new Set(storageRoutes.map(({ action }) => action)).size).toBe(storageRoutes.length)
})
