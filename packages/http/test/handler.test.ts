/** The frame of the handlers: routes, authorization, errors, bodies, queries and other origins. */
import { SessionError } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { expect, test } from "vitest"
import * as z from "zod"
import { json, readJson, readQuery } from "../src/answers.ts"
import { createHandler, type Handler, type HandlerOptions } from "../src/handler.ts"
import type { Route } from "../src/routes.ts"

const routes: readonly Route[] = [
  { action: "read", method: "GET", path: "/sessions/:session", summary: "", answers: {} },
  { action: "rename", method: "PATCH", path: "/sessions/:session", summary: "", answers: {} },
  { action: "list", method: "GET", path: "/sessions", summary: "", answers: {} },
  { action: "named", method: "GET", path: "/named/:name", summary: "", answers: {} },
]
const titled = z.strictObject({ title: z.string() })
const paged = z.strictObject({ limit: z.coerce.number().int().min(1).optional() })

function open(options: Partial<HandlerOptions<string>> = {}, fail?: unknown): Handler {
  return createHandler(
    "createTest",
    routes,
    { authorize: () => "me", onError: () => undefined, ...options },
    async ({ request, url, route, params, principal }) => {
      if (fail !== undefined) throw fail
      const body = route.action === "rename" ? await readJson(request, titled, { bytes: 100 }) : undefined
      const query = route.action === "list" ? readQuery(url, paged) : undefined
      return json(200, { action: route.action, ...params, principal, body, query })
    },
  )
}

async function call(handler: Handler, path: string, init?: RequestInit): Promise<{ status: number; body: unknown }> {
  const response = await handler(new Request(`http://host${path}`, init))
  return { status: response.status, body: await response.json() }
}

const patch = (body: BodyInit, type = "application/json"): RequestInit => ({
  method: "PATCH",
  body,
  headers: { "content-type": type },
})

test("a request reaches the route of its method and path, below the base path", async () => {
  const body = { action: "read", session: "a", principal: "me" }
  expect(await call(open(), "/sessions/a")).toEqual({ status: 200, body })
  expect(await call(open({ basePath: "/api/v1" }), "/api/v1/sessions/a")).toEqual({ status: 200, body })
  expect((await call(open({ basePath: "/api/v1" }), "/sessions/a")).status).toBe(404)
  expect((await call(open({ basePath: "/api" }), "/apis/sessions/a")).status).toBe(404)
})

test("an unknown route is 404, a wrong method 405 with the methods that there are", async () => {
  for (const path of ["/", "/other", "/sessions/", "/sessions/a/b", "//sessions/a"])
    expect((await call(open(), path)).status).toBe(404)
  const response = await open()(new Request("http://host/sessions/a", { method: "DELETE" }))
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, PATCH"])
})

test("a session id is checked before `authorize` is asked, and an encoded slash does not leave its segment", async () => {
  const handler = open({
    authorize: () => {
      throw new Error("asked")
    },
  })
  for (const id of ["a%2Fb", "%2e%2e%2fb", "..%2f", "a%00", "a%20b", "%40a", "a".repeat(129), "%ff", "%"])
    expect([id, (await call(handler, `/sessions/${id}`)).status]).toEqual([id, 400])
  expect((await call(open(), "/named/a%2Fb")).body).toMatchObject({ name: "a/b" })
})

test("`authorize` gets the action and the session; its response is sent, and nothing returned is 403", async () => {
  const asked: unknown[] = []
  const handler = open({
    authorize: (_, access) => {
      asked.push(access)
      return new Response("who?", { status: 401 })
    },
  })
  const response = await handler(new Request("http://host/sessions/a"))
  expect([response.status, await response.text(), asked]).toEqual([401, "who?", [{ action: "read", session: "a" }]])
  for (const nothing of [undefined, null])
    expect((await call(open({ authorize: () => nothing }), "/sessions")).status).toBe(403)
})

test("an error has the status of `httpStatus`; a failure of the server has no details, and goes to `onError`", async () => {
  const seen: unknown[] = []
  const onError = (error: unknown): void => void seen.push(error)
  const known = new SessionError("not_found", "no such session")
  expect(await call(open({ onError }, known), "/sessions")).toEqual({
    status: 404,
    body: { error: { code: "not_found", message: "no such session" } },
  })
  expect(seen).toEqual([])
  const failures: readonly [unknown, number, string][] = [
    [new Error("/srv/secret"), 500, "internal"],
    ["/srv/secret", 500, "internal"],
    [Object.assign(new Error("/srv/secret"), { code: "secret" }), 500, "internal"],
    [new StorageError("corrupt", "/srv/secret"), 500, "corrupt"],
    [new StorageError("unavailable", "/srv/secret"), 503, "unavailable"],
    [new StorageError("quota", "/srv/secret"), 507, "quota"],
    [new StorageError("unsupported", "/srv/secret"), 501, "unsupported"],
  ]
  for (const [secret, expected, code] of failures) {
    const { status, body } = await call(open({ onError }, secret), "/sessions")
    expect([status, body]).toMatchObject([expected, { error: { code } }])
    expect(JSON.stringify(body)).not.toContain("secret")
    expect(seen.pop()).toBe(secret)
  }
})

test("a refusal names no place in the store, and is otherwise told as it is", async () => {
  const message = async (details: object): Promise<unknown> => {
    const error = new StorageError("conflict", "fs:/srv: the document a of /srv/a.json exists already", details)
    return (await call(open({}, error), "/sessions")).body
  }
  const told = (message: string): unknown => ({ error: { code: "conflict", message } })
  expect(await message({ storage: "fs:/srv", at: "/srv/a.json" })).toEqual(
    told("the storage: the document a of the storage exists already"),
  )
  expect(await message({ at: "a" })).toEqual(told("fs:/srv: the document a of /srv/a.json exists already"))
})

test("`unavailable` asks to be repeated, `indeterminate` does not", async () => {
  const retryAfter = async (code: "unavailable" | "indeterminate"): Promise<unknown> => {
    const response = await open({}, new StorageError(code, "…"))(new Request("http://host/sessions"))
    return [response.status, response.headers.get("retry-after")]
  }
  expect(await retryAfter("unavailable")).toEqual([503, "1"])
  expect(await retryAfter("indeterminate")).toEqual([503, null])
})

test("a body over the limit is 413, of another type 415, and one that the schema refuses 400", async () => {
  const status = async (init: RequestInit): Promise<number> => (await call(open(), "/sessions/a", init)).status
  expect(await status(patch('{"title":"x"}'))).toBe(200)
  expect(await status(patch('{"title":"x"}', "Application/JSON; charset=utf-8"))).toBe(200)
  expect(await status(patch(`{"title":"${"x".repeat(100)}"}`))).toBe(413)
  expect(await status(patch('{"title":"x"}', "text/plain"))).toBe(415)
  for (const wrong of ["", "{", '{"title":1}', '{"title":"x","other":1}', new Uint8Array([0x22, 0xff, 0x22])])
    expect(await status(patch(wrong))).toBe(400)
})

test("a body without a length is refused as soon as it is over the limit", async () => {
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++
      controller.enqueue(new Uint8Array(60))
    },
  })
  const init = { ...patch(""), body, duplex: "half" }
  expect((await call(open(), "/sessions/a", init)).status).toBe(413)
  expect(sent).toBeLessThan(10)
})

test("a query with an unknown name, a name twice or a wrong value is 400", async () => {
  expect((await call(open(), "/sessions?limit=3")).body).toMatchObject({ query: { limit: 3 } })
  for (const wrong of ["limit=0", "limit=x", "limit=1&limit=2", "other=1"])
    expect([wrong, (await call(open(), `/sessions?${wrong}`)).status]).toEqual([wrong, 400])
})

test("a query of more than 16,384 characters is 400 before it is read, since reading it may take longer than in proportion", async () => {
  const { status, body } = await call(open(), `/sessions?${"&é".repeat(8_000)}`)
  expect(status).toBe(400)
  expect(body).toMatchObject({ error: { message: "The query has more than 16384 characters." } })
})

test("pages of the named origins may call, others may not, and every answer varies by origin", async () => {
  const handler = open({ cors: { origins: ["https://app.test"], credentials: true, headers: ["X-Tenant"] } })
  const ask = async (origin: string, method = "GET"): Promise<Response> =>
    handler(new Request("http://host/sessions", { method, headers: { origin } }))
  const allowed = await ask("https://app.test")
  expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.test")
  expect(allowed.headers.get("access-control-allow-credentials")).toBe("true")
  expect(allowed.headers.get("access-control-expose-headers")).toBe("ETag, Retry-After, sessions-refused")
  expect(allowed.headers.get("vary")).toBe("Origin")
  const other = await ask("https://evil.test")
  expect(other.headers.get("access-control-allow-origin")).toBe(null)
  expect(other.headers.get("vary")).toBe("Origin")
  const asked = await ask("https://app.test", "OPTIONS")
  expect([asked.status, asked.headers.get("access-control-allow-methods")]).toEqual([204, "GET, PATCH"])
  expect(asked.headers.get("access-control-allow-headers")).toMatch(/Authorization.*Idempotency-Key.*X-Tenant/)
  expect((await open()(new Request("http://host/sessions", { method: "OPTIONS" }))).status).toBe(405)
})

test("a response of `authorize` of another class, as of a library or a VM context, refuses", async () => {
  class Response {
    readonly status = 401
    readonly statusText = ""
    readonly headers = new Headers({ "content-type": "application/json" })
    readonly body = '{"refused":true}'
    get [Symbol.toStringTag](): string {
      return "Response"
    }
  }
  const handler = open({ authorize: () => new Response() as never })
  expect(await call(handler, "/sessions")).toEqual({ status: 401, body: { refused: true } })
})

test("wrong options are `invalid`: no `authorize`, a base path with a slash, all origins with credentials", () => {
  const wrong = [
    { authorize: undefined },
    { basePath: "/api/" },
    { basePath: "api" },
    { cors: { origins: ["app.test"] } },
    { cors: { origins: ["https://app.test/"] } },
    { cors: { origins: "*", credentials: true } },
    { onError: 1 },
  ] as unknown as Partial<HandlerOptions<string>>[]
  for (const options of wrong) expect(() => open(options)).toThrow(/^createTest: /)
})
