/** Answers that are not the session API's: of a proxy, a gateway or a sign-in page. The client believes none of them, and ends. */
import { createSessionClient, type SessionApiError, type SessionClient, type SessionEvent } from "@sessions/http/client"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { newId, serve } from "./server.ts"

type Fetch = (url: string, init: RequestInit) => Promise<Response>

beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] }),
)
afterEach(() => void vi.useRealTimers())

const HTML = { "content-type": "text/html", server: "nginx/1.27" }
const page = (status: number, headers: object = {}): Response =>
  new Response("<!doctype html><title>Sign in</title>", { status, headers: { ...HTML, ...headers } })

/** Answers that prove nothing, and the code of a call that only reads. */
const FOREIGN: readonly (readonly [name: string, answer: () => Response, read: string])[] = [
  ["200 with a page", () => page(200), "failed"],
  ["200 with nothing", () => new Response(""), "failed"],
  ["200 with JSON of another program", () => Response.json({}), "failed"],
  ["200 with JSON that was cut off", () => new Response('{"sessions":['), "failed"],
  ["204", () => new Response(null, { status: 204 }), "failed"],
  ["403 with a page", () => page(403), "failed"],
  ["404 with a page", () => page(404), "failed"],
  ["404 with JSON of another program", () => Response.json({ error: "no route" }, { status: 404 }), "failed"],
  ["413 with a page", () => page(413), "failed"],
  ["429 with a page", () => page(429), "unavailable"],
  ["500 with nothing", () => new Response("", { status: 500 }), "unavailable"],
  ["502 with a page", () => page(502), "unavailable"],
  ["507 with a page", () => page(507), "quota"],
]

const CALLS: Readonly<
  Record<string, { call: (client: SessionClient) => Promise<unknown>; reads: boolean; repeats: boolean }>
> = {
  create: { call: (client) => client.create(), reads: false, repeats: false },
  list: { call: (client) => client.list(), reads: true, repeats: true },
  load: { call: (client) => client.load("a"), reads: true, repeats: true },
  context: { call: (client) => client.context("a"), reads: true, repeats: true },
  rename: { call: (client) => client.rename("a", "x"), reads: false, repeats: false },
  prompt: { call: (client) => client.prompt("a", { text: "x" }), reads: false, repeats: true },
  stop: { call: (client) => client.stop("a", newId()), reads: false, repeats: true },
  delete: { call: (client) => client.delete("a"), reads: false, repeats: false },
}

/** A client whose requests all get what `answer` returns; the times of the requests. */
function clientOf(fetch: Fetch): { readonly client: SessionClient; readonly times: number[] } {
  const times: number[] = []
  const counting: Fetch = (url, init) => {
    times.push(Date.now())
    return fetch(url, init)
  }
  return { client: createSessionClient({ url: "http://host", fetch: counting }), times }
}

/** The error of a call, with the time passing as it must. */
async function errorOf(call: Promise<unknown>): Promise<SessionApiError> {
  let outcome: { readonly error: SessionApiError } | { readonly value: unknown } | undefined
  call.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { error: error as SessionApiError }),
  )
  await vi.advanceTimersByTimeAsync(600_000)
  if (outcome === undefined) throw new Error("it has not ended after ten minutes")
  if ("error" in outcome) return outcome.error
  throw new Error(`it resolved with ${JSON.stringify(outcome.value)}`)
}

test.each(Object.entries(CALLS))("%s is no success, whatever another server answers", async (_, o) => {
  for (const [name, answer, read] of FOREIGN) {
    const { client, times } = clientOf(async () => answer())
    const error = await errorOf(o.call(client))
    const { status } = answer()
    expect([name, error.code, error.status]).toEqual([name, o.reads ? read : "indeterminate", status])
    expect([name, times.length]).toEqual([name, o.repeats ? 5 : 1])
    expect(error.message).toContain(`answered ${status}`)
  }
})

test("a page in place of the API is told as what it is, with the server that has sent it", async () => {
  const { client } = clientOf(async () => page(404))
  const { message } = await errorOf(client.load("a"))
  expect(message).toBe(
    "A server on the way (nginx) answered 404 and text/html in place of the session API; check `url` and `headers`.",
  )
})

test("a refusal by the host's own function is not repeated; one of the credentials is `misconfigured`", async () => {
  const refusal = (status: number): Response => new Response("no", { status })
  const denying = (answer: Response | undefined) => serve({ authorize: () => answer }).handler
  const own = Response.json({ error: { code: "plan_ended", message: "Pay." } }, { status: 403 })
  const { handler: accepting, client: direct } = serve({ accept: () => refusal(429), background: false })
  const { id } = await direct.create()
  for (const [serving, status, code] of [
    [denying(refusal(401)), 401, "misconfigured"],
    [denying(refusal(403)), 403, "misconfigured"],
    [denying(undefined), 403, "misconfigured"],
    [denying(own), 403, "plan_ended"],
    [denying(refusal(404)), 404, "failed"],
    [accepting, 429, "failed"],
  ] as const) {
    const { client, times } = clientOf((url, init) => serving(new Request(url, init)))
    const error = await errorOf(client.prompt(id, { text: "x" }))
    expect([error.code, error.status, times.length]).toEqual([code, status, 1])
  }
})

test.each(FOREIGN.filter(([, answer]) => answer().status < 500))(
  "events that meet %s are asked for again some times, more and more seldom, and then end with what was seen",
  async (_, answer, code) => {
    for (const stream of [true, false]) {
      const { client, times } = clientOf(async () => answer())
      const error = await errorOf(all(client.events("a", { stream })))
      expect([error.code, error.status, times.length]).toEqual([code, answer().status, 8])
      expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(10_000)
    }
  },
)

test("events go on after a moment in which a server on the way answers: a limit of requests, no backend, a sign-in page", async () => {
  for (const answer of [() => page(429, { "retry-after": "7" }), () => page(404), () => page(403), () => page(200)]) {
    const { handler, client: direct } = serve()
    const { id } = await direct.create()
    const { client, times } = clientOf(async (url, init) => {
      const n = times.length
      if (n > 1 && n < 5) return answer()
      const answered = await handler(new Request(url, init))
      return n === 1 ? firstPieces(answered, 1) : answered
    })
    const seen: string[] = []
    const following = (async () => {
      for await (const { event } of client.events(id)) {
        seen.push(event)
        if (event === "deleted") return
      }
    })()
    await vi.advanceTimersByTimeAsync(30_000)
    await direct.delete(id)
    await vi.advanceTimersByTimeAsync(1_000)
    await following
    expect(seen.at(-1)).toBe("deleted")
    const waited = answer().headers.get("retry-after")
    if (waited !== null) expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(7_000)
  }
})

test("a host that ends each stream after its first piece is connected to more and more seldom", async () => {
  const { handler, client: direct } = serve()
  const { id } = await direct.create()
  for (const stream of [true, false]) {
    const { client, times } = clientOf(async (url, init) => {
      if (stream) return firstPieces(await handler(new Request(url, init)), 1)
      // A page that comes at once, as one that waits for nothing.
      return handler(new Request(url.replace("wait=25", "wait=0"), init))
    })
    const stop = new AbortController()
    const following = all(client.events(id, { signal: stop.signal, stream }))
    await vi.advanceTimersByTimeAsync(60_000)
    stop.abort()
    await vi.advanceTimersByTimeAsync(1_000)
    await following
    expect(times.length).toBeLessThan(15)
    const [last = 0, before = 0] = times.toReversed()
    expect(last - before).toBeGreaterThan(5_000)
  }
})

test("a stream that lasted, or told more than the state, is followed by a short pause", async () => {
  const { handler, client: direct } = serve()
  const { id } = await direct.create()
  const { client, times } = clientOf(async (url, init) => firstPieces(await handler(new Request(url, init)), 2))
  const stop = new AbortController()
  const following = all(client.events(id, { signal: stop.signal }))
  for (let n = 0; n < 20; n++) {
    await direct.rename(id, `title ${n}`)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  stop.abort()
  await vi.advanceTimersByTimeAsync(1_000)
  await following
  expect(times.length).toBeGreaterThan(15)
})

test("a stream of which nothing arrives, as behind compression, ends with an error that names the way out", async () => {
  const { client, times } = clientOf(
    async () => new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }),
  )
  const error = await errorOf(all(client.events("a")))
  expect([error.code, times.length]).toEqual(["failed", 2])
  expect(error.message).toContain("such as compression or a proxy")
  expect(error.message).toContain("`stream: false`")
})

test.each(["example.com/api", "ftp://example.com", "http://host/api?tenant=1", "/api", undefined])(
  "the url %s is refused at once",
  (url) => {
    expect(() => createSessionClient({ url: url as string })).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining("`url`") }),
    )
  },
)

/** The answer with the first pieces of its body, after which it ends. */
function firstPieces(answered: Response, count: number): Response {
  const reader = (answered.body as ReadableStream<Uint8Array>).getReader()
  let left = count
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = await reader.read()
      controller.enqueue(value as Uint8Array)
      if (--left > 0) return
      controller.close()
      await reader.cancel()
    },
    cancel: () => reader.cancel(),
  })
  return new Response(body, { status: answered.status, headers: answered.headers })
}

async function all(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = []
  for await (const event of events) seen.push(event)
  return seen
}
