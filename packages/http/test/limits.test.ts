/** What a principal may use of a server of many: requests, streams, and how slowly its bodies may come. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import {
  createSessionHandler,
  createStorageHandler,
  type Handler,
  type SessionHandler,
  type TenantLimits,
} from "../src/server.ts"
import { clientOf } from "./sessions/server.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }))
afterEach(() => void vi.useRealTimers())

const TYPE = "application/json"

/** Both handlers, for the tenants `ada` and `bob`. */
function serve(limits: TenantLimits): { readonly sessions: SessionHandler<string>; readonly storage: Handler } {
  const authorize = (request: Request): string => request.headers.get("authorization") ?? "ada"
  const storages = new Map(["ada", "bob"].map((name) => [name, createMemoryStorage()] as const))
  const repositories = new Map([...storages].map(([name, storage]) => [name, createSessions({ storage })] as const))
  return {
    sessions: createSessionHandler<string>({
      authorize,
      limits,
      sessions: (name) => repositories.get(name) as never,
      run: () => undefined,
      background: false,
    }),
    storage: createStorageHandler<string>({ authorize, limits, storage: (name) => storages.get(name) as never }),
  }
}

function get(handler: Handler, path: string, name = "ada"): Promise<Response> {
  return handler(new Request(`http://host${path}`, { headers: { authorization: name } }))
}

test("requests beyond those of a minute are 429 and say when to come again, for each principal by itself", async () => {
  const handlers = serve({ requestsPerMinute: 3 })
  for (const handler of [handlers.sessions, handlers.storage]) {
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) statuses.push((await get(handler, "/sessions")).status)
    vi.setSystemTime(Date.now() + 20_000)
    const refused = await get(handler, "/sessions")
    expect([...statuses, refused.status, refused.headers.get("retry-after")]).toEqual([200, 200, 200, 429, "40"])
    expect(await refused.json()).toMatchObject({ error: { code: "too_many_requests" } })
    expect((await get(handler, "/sessions", "bob")).status).toBe(200)
    vi.setSystemTime(Date.now() + 40_000)
    expect((await get(handler, "/sessions")).status).toBe(200)
  }
})

test("the session client waits as it is asked to", async () => {
  const { sessions } = serve({ requestsPerMinute: 1 })
  const client = clientOf(sessions)
  await client.list()
  vi.setSystemTime(Date.now() + 50_000)
  const listed = client.list()
  await vi.advanceTimersByTimeAsync(11_000)
  expect(await listed).toMatchObject({ sessions: [] })
})

test("streams beyond those that may be open are 429; one that ends gives its place back", async () => {
  const { sessions, storage } = serve({ streams: 2 })
  const { id } = await clientOf(sessions).create()
  for (const [handler, path] of [
    [sessions, `/sessions/${id}/events`],
    [storage, `/sessions/${id}/watch`],
  ] as const) {
    const open = [await get(handler, path), await get(handler, path)]
    const refused = await get(handler, path)
    expect([...open, refused].map(({ status }) => status)).toEqual([200, 200, 429])
    expect(refused.headers.get("retry-after")).toBe("5")
    expect(await refused.json()).toMatchObject({ error: { code: "too_many_requests" } })
    await open[0]?.body?.cancel()
    await vi.advanceTimersByTimeAsync(1)
    const next = await get(handler, path)
    expect(next.status).toBe(200)
    await next.body?.cancel()
    await open[1]?.body?.cancel()
    await vi.advanceTimersByTimeAsync(1)
  }
  // A page of events, and a session that there is not, give theirs back as well.
  for (let n = 0; n < 3; n++) {
    const page = get(sessions, `/sessions/${id}/events?wait=0`)
    await vi.advanceTimersByTimeAsync(1)
    expect([(await page).status, (await get(sessions, "/sessions/none/events")).status]).toEqual([200, 404])
  }
})

test("a body that comes more slowly than allowed is 408, also if nothing of it comes; one that is quick enough passes", async () => {
  const { sessions, storage } = serve({ bodyBytesPerSecond: 10 })
  const body = (pieces: number, everyMs: number): ReadableStream<Uint8Array> => {
    const text = JSON.stringify({ from: null, to: "x".repeat(10 * pieces - 22) })
    let at = 0
    return new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, everyMs))
        if (at >= text.length) return controller.close()
        controller.enqueue(new TextEncoder().encode(text.slice(at, (at += 10))))
      },
    })
  }
  const put = (stream: ReadableStream<Uint8Array>): Promise<Response> => {
    const init = { method: "PUT", body: stream, duplex: "half", headers: { "content-type": TYPE } }
    return storage(new Request("http://host/docs/d", init))
  }
  const quick = put(body(30, 900))
  const slow = put(body(30, 1_500))
  const create = { method: "POST", body: body(10, 60_000), duplex: "half", headers: { "content-type": TYPE } }
  const silent = sessions(new Request("http://host/sessions", create))
  let ended = 0
  void silent.then(() => (ended = Date.now()))
  const began = Date.now()
  await vi.advanceTimersByTimeAsync(120_000)
  expect([(await quick).status, (await slow).status, (await silent).status]).toEqual([200, 408, 408])
  expect(ended - began).toBeLessThan(6_000)
})

test("a limit must be a whole number above 0, and known", () => {
  for (const limits of [{ streams: 0 }, { requestsPerMinute: 1.5 }, { stream: 1 }]) {
    const invalid = expect.objectContaining({ code: "invalid" })
    expect(() => serve(limits as TenantLimits)).toThrow(invalid)
  }
})
