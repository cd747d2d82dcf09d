import { createSessions, type Sessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import { createInspector, type InspectorOptions, sessionPage } from "../src/index.ts"
import type { End } from "../src/serve/end.ts"
import type { Listed } from "../src/serve/list.ts"
import { readWhole } from "../src/serve/outline.ts"
import { type Whole, wholeOf } from "../view/lines.ts"
import { pageOf, textOf } from "./page-data.ts"
import { sampleSession } from "./sample.ts"

const TOKEN = "a-token-of-some-length"
const ORIGIN = "http://127.0.0.1:7070"

interface Server {
  readonly sessions: Sessions
  readonly send: (path: string, headers?: Record<string, string>, method?: string) => Promise<Response>
  readonly get: <T>(path: string, shape: (value: unknown) => T) => Promise<T>
  readonly whole: (id: string) => Promise<Whole>
}

function server(options: Partial<InspectorOptions> = {}, storage = createMemoryStorage()): Server {
  const sessions = createSessions({ storage })
  const inspector = createInspector({ sessions, token: TOKEN, ...options })
  const send: Server["send"] = (path, headers = { authorization: `Bearer ${TOKEN}` }, method = "GET") =>
    inspector(new Request(path.startsWith("http") ? path : `${ORIGIN}${path}`, { method, headers }))
  return {
    sessions,
    send,
    get: async (path, shape) => shape(await (await send(path)).json()),
    whole: async (id) => wholeOf(await send(`/api/sessions/${id}/whole`)),
  }
}

const asEnd = (value: unknown): End => value as End
const asList = (value: unknown): Listed => value as Listed

const API = [
  "sessions",
  "search?words=x",
  "sessions/s",
  "sessions/s/whole",
  "sessions/s/entries?seqs=1",
  "sessions/s/find?words=x",
  "sessions/s/export",
]

test("no data without the token, or with another one; the page itself has no data", async () => {
  const { sessions, send } = server()
  await (await sessions.create({ id: "s", title: "a secret title" })).close()
  for (const path of [...API, "none"])
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: TOKEN },
      { authorization: `Bearer ${TOKEN}x` },
      { cookie: TOKEN },
    ]) {
      const response = await send(`/api/${path}?token=${TOKEN}`, headers)
      expect([path, response.status]).toEqual([path, 401])
      expect(await response.text()).not.toContain("secret")
    }
  const page = await send("/", {})
  expect(page.status).toBe(200)
  expect((await page.text()).includes("secret")).toBe(false)
})

test("a page that has read a session reads it anew when a copy with as many lines was put in its place", async () => {
  const location = createMemoryLocation()
  const { sessions, get, whole } = server({}, createMemoryStorage({ location }))
  await (await sessions.create({ id: "s", title: "old" })).close()
  const { head } = await whole("s")
  expect((await get("/api/sessions/s", asEnd)).head).toBe(head)
  const log = location.logs.get("s")
  if (log === undefined) throw new Error("There is no log.")
  const lines = log.lines.map((line) => line.replace("old", "new"))
  location.logs.set("s", { ...log, lines, updatedAt: log.updatedAt + 1 })
  const end = await get("/api/sessions/s", asEnd)
  expect([end.summary.info.title, end.head === head]).toEqual(["new", false])
  expect((await whole("s")).head).toBe(end.head)
})

test("a page shows a log that was put back to an older state while it is open, and those who have it open learn of it", async () => {
  const location = createMemoryLocation()
  const { sessions, send } = server({}, createMemoryStorage({ location }))
  const session = await sessions.create({ id: "s" })
  const log = location.logs.get("s")
  const kept = log?.lines.length ?? 0
  await session.append({ type: "message", message: { role: "user", content: "gone" } })
  if (log !== undefined) log.lines.length = kept
  const answer = await send("/api/sessions/s")
  expect([answer.status, (await answer.text()).includes("gone")]).toEqual([200, false])
  await expect(session.refresh()).rejects.toMatchObject({ code: "conflict", lost: [{ type: "message" }] })
})

test("a name that resolves to loopback is refused with and without the token: DNS rebinding", async () => {
  const { send } = server()
  for (const host of [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "169.254.1.1",
    "0.0.0.0",
    "[::]",
  ])
    for (const path of ["/", "/api/sessions"]) expect((await send(`http://${host}:7070${path}`)).status).toBe(403)
  for (const host of ["localhost", "127.0.0.1", "[::1]"])
    expect((await send(`http://${host}:7070/api/sessions`)).status).toBe(200)
})

test("requests that another page makes are refused", async () => {
  const { send } = server()
  const authorization = `Bearer ${TOKEN}`
  for (const origin of [
    "http://evil.example",
    "null",
    "http://127.0.0.1:7071",
    "http://localhost:7070",
    "https://127.0.0.1:7070",
  ])
    expect((await send("/api/sessions", { authorization, origin })).status).toBe(403)
  for (const site of ["cross-site", "same-site"])
    expect(
      (await send("/api/sessions", { authorization, "sec-fetch-site": site, "sec-fetch-mode": "cors" })).status,
    ).toBe(403)
  expect((await send("/api/sessions", { authorization, origin: ORIGIN, "sec-fetch-site": "same-origin" })).status).toBe(
    200,
  )
})

test("nothing but reading: every other method is 405, and no answer allows another origin", async () => {
  const { send } = server()
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    for (const path of ["/", "/api/sessions", "/api/sessions/s"]) {
      const response = await send(path, undefined, method)
      expect([method, response.status, response.headers.get("allow")]).toEqual([method, 405, "GET, HEAD"])
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
    }
})

test("every answer forbids keeping, guessing and framing; the page has a strict policy, data runs nothing at all", async () => {
  const { sessions, send } = server()
  await sampleSession(sessions, "s")
  for (const path of ["/", "/none", ...API.map((path) => `/api/${path}`)]) {
    const { headers } = await send(path)
    const policy = headers.get("content-security-policy") ?? ""
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(headers.get("cache-control")).toBe("no-store")
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("referrer-policy")).toBe("no-referrer")
    if (path !== "/") expect(policy).toContain("sandbox")
  }
})

test("ids and numbers of an address are checked first: 400; a session or route that is not there: 404", async () => {
  const { sessions, send } = server()
  await sampleSession(sessions, "s")
  for (const path of ["sessions/..%2f..%2fetc", "sessions/.hidden", "sessions/a%00b", `sessions/${"x".repeat(300)}`])
    expect([path, (await send(`/api/${path}`)).status]).toEqual([path, 400])
  for (const seqs of ["", "0", "-1", "1.5", "x", "1e99", Array.from({ length: 501 }, (_, n) => n + 1).join(",")])
    expect([seqs, (await send(`/api/sessions/s/entries?seqs=${seqs}`)).status]).toEqual([seqs, 400])
  expect((await send("/api/sessions/s/find?words=%20")).status).toBe(400)
  for (const path of [
    "/api/sessions/%2e%2e",
    "/api/sessions/none",
    "/api/sessions/s/other",
    "/api/sessions/s/constructor",
    "/api",
    "/favicon.ico",
  ])
    expect([path, (await send(path)).status]).toEqual([path, 404])
})

test("a failure of the server is 500 without details, which go to `onError`", async () => {
  const onError = vi.fn<(error: unknown) => void>()
  const search = (): Promise<never> => Promise.reject(new Error("at /home/someone/secret"))
  const { send } = server({ onError, search })
  const response = await send("/api/search?words=x")
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain("secret")
  expect(String(onError.mock.calls[0]?.[0])).toContain("secret")
})

test("the end of a session has its last entries with their lines; the whole has the rows of the exported page", async () => {
  const { sessions, get, whole: wholeAt } = server()
  const { id, ids } = await sampleSession(sessions)
  const end = await get(`/api/sessions/${id}`, asEnd)
  const whole = await wholeAt(id)
  const exported = pageOf(await textOf(sessionPage(sessions, id, { subagents: true })), id)
  expect(end.rows.at(-1)?.id).toBe(ids.last)
  expect(whole.head).toBe(end.head)
  for (const [seq, stored] of end.entries) expect(stored).toEqual(exported.entries.get(seq))
  expect([...whole.rows.values()]).toEqual(exported.rows)
  expect(whole.summary).toEqual({ ...exported.summary, info: whole.summary.info })
  const seqs = exported.rows.map(({ seq }) => seq)
  const { entries } = await get(
    `/api/sessions/${id}/entries?seqs=${seqs.join(",")}`,
    (value) => value as Pick<End, "entries">,
  )
  expect(new Map(entries)).toEqual(exported.entries)
})

test("the end says whether the log is still the one of the whole, so that the page need not read it again", async () => {
  const { sessions, get, whole } = server()
  const { id } = await sampleSession(sessions)
  const { head } = await whole(id)
  expect((await get(`/api/sessions/${id}`, asEnd)).head).toBe(head)
  const session = await sessions.open(id)
  await session.label(session.leafId as string, "later")
  await session.close()
  expect((await get(`/api/sessions/${id}`, asEnd)).head).not.toBe(head)
  await sessions.delete(id)
  await sessions.delete(`${id}-agent`)
  await sampleSession(sessions)
  expect((await get(`/api/sessions/${id}`, asEnd)).head).not.toBe(head)
})

test("lines that are no entries come with the whole, and do not shift the entries around them", async () => {
  const { sessions, get, whole } = server()
  const { id } = await sampleSession(sessions)
  const head = await sessions.storage.head(id)
  const next = head?.next as number
  await sessions.storage.append(id, ["{ damaged"], { expect: { log: head?.log as string, next } })
  const session = await sessions.open(id)
  const { ids } = await session.append({ type: "message", message: { role: "user", content: "after the damage" } })
  await session.close()
  expect((await whole(id)).summary.damaged).toEqual([{ seq: next, raw: "{ damaged" }])
  const { entries } = await get(
    `/api/sessions/${id}/entries?seqs=${next - 1},${next},${next + 1}`,
    (value) => value as Pick<End, "entries">,
  )
  expect(entries.map(([seq]) => seq)).toEqual([next - 1, next + 1])
  expect(entries.at(-1)?.[1].entry.id).toBe(ids[0])
})

/** A session with so many messages that its rows come in three parts. */
async function longSession(sessions: Sessions): Promise<string> {
  const session = await sessions.create({ id: "long" })
  await session.append(
    Array.from({ length: 1_200 }, (_, n) => ({
      type: "message" as const,
      message: { role: "user" as const, content: `message ${n}` },
    })),
  )
  await session.close()
  return session.id
}

test("the rows of a long session come in parts, and other requests have their turn before each", async () => {
  const { sessions, whole } = server()
  const id = await longSession(sessions)
  expect((await whole(id)).rows.size).toBe(1_200)
  const session = await sessions.open(id)
  const parts = readWhole(sessions, session, {})
  for (const count of [500, 500, 200]) {
    let turns = 0
    setTimeout(() => turns++, 0)
    const { value } = await parts.next()
    expect(value).toEqual({ rows: expect.objectContaining({ length: count }) as unknown })
    expect(turns).toBe(1)
  }
  expect((await parts.next()).value).toHaveProperty("summary")
  await session.close()
})

test("reading the whole ends when the page does not wait for it any more", async () => {
  const { sessions } = server()
  const session = await sessions.open(await longSession(sessions))
  const stop = new AbortController()
  const parts = readWhole(sessions, session, { signal: stop.signal })
  await parts.next()
  stop.abort()
  await expect(parts.next()).rejects.toThrow("aborted")
  await session.close()
})

test("a stream that cannot begin is 500, and its error goes to `onError`", async () => {
  const memory = createMemoryStorage()
  const sessions = createSessions({
    storage: {
      ...memory,
      // Finding words reads windows of a size of its own; the session opens all the same.
      read: (id, range, o) => {
        if (range !== undefined && "maxBytes" in range && range.maxBytes === 1_000_000)
          throw new Error("the disk is gone")
        return memory.read(id, range, o)
      },
    },
  })
  const onError = vi.fn<(error: unknown) => void>()
  const { send } = server({ sessions, onError })
  await sampleSession(sessions, "s")
  expect((await send("/api/sessions/s/find?words=flag")).status).toBe(500)
  expect(String(onError.mock.calls[0]?.[0])).toContain("the disk is gone")
})

test("words are found in one session, newest first: any case, marks of JSON, escapes, and long texts in blobs", async () => {
  const { sessions, send } = server()
  const session = await sessions.create({ id: "s" })
  const texts = [
    "an Apple",
    'a "quoted" line\nand a second',
    "b".repeat(1_000),
    "späte Äpfel",
    `${"word ".repeat(60_000)} needle`,
    "an APPLE again",
  ]
  const ids: string[] = []
  for (const content of texts)
    ids.push(...(await session.append({ type: "message", message: { role: "user", content } })).ids)
  await session.close()
  const found = async (words: string): Promise<number[]> => {
    const text = await (await send(`/api/sessions/s/find?${new URLSearchParams({ words }).toString()}`)).text()
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ids.indexOf((JSON.parse(line) as { id: string }).id))
  }
  expect(await found("apple")).toEqual([5, 0])
  expect(await found('"quoted" line\nand')).toEqual([1])
  expect(await found("SPÄTE äpfel")).toEqual([3])
  expect(await found("needle")).toEqual([4])
  expect(await found("parentId")).toEqual([])
  expect(await found(".*")).toEqual([])
})

test("the list is by the newest message; words choose by title, first prompt, folder or id; pages go on", async () => {
  const { sessions, get } = server()
  for (let n = 0; n < 60; n++) {
    const session = await sessions.create({
      id: `s${String(n).padStart(2, "0")}`,
      title: n % 10 === 0 ? `Tenth ${n}` : `Other ${n}`,
    })
    await session.append({
      type: "message",
      timestamp: new Date(n * 1_000).toISOString(),
      message: { role: "user", content: "x" },
    })
    await session.close()
  }
  const first = await get("/api/sessions", asList)
  expect([first.sessions.length, first.sessions[0]?.id]).toEqual([50, "s59"])
  const second = await get(`/api/sessions?cursor=${encodeURIComponent(first.next ?? "")}`, asList)
  expect([second.sessions.length, second.next]).toEqual([10, undefined])
  const tenths = await get("/api/sessions?words=tenth", asList)
  expect(tenths.sessions.map(({ id }) => id)).toEqual(["s50", "s40", "s30", "s20", "s10", "s00"])
})

test("a session is exported as its log and as its page", async () => {
  const { sessions, send } = server()
  const { id } = await sampleSession(sessions)
  expect(await (await send(`/api/sessions/${id}/export?format=jsonl`)).text()).toBe(
    await textOf(exportSession(sessions, id)),
  )
  const html = await (await send(`/api/sessions/${id}/export?format=html`)).text()
  expect(pageOf(html, id).summary.id).toBe(id)
})

test("wrong options are `invalid`", () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (const options of [
    {},
    { sessions },
    { sessions, token: "short" },
    { sessions, token: `${TOKEN} x` },
    { sessions, token: TOKEN, search: 1 },
  ])
    expect(() => createInspector(options as never)).toThrow(expect.objectContaining({ code: "invalid" }) as Error)
})
