/** The client: repeats only what is harmless, and loads nothing of the server. */
import { readFileSync } from "node:fs"
import { hasCode } from "@sessions/core"
import { createSessionClient, SessionApiError } from "@sessions/http/client"
import { expect, test } from "vitest"
import { newId, serve } from "./server.ts"

type Call = (client: ReturnType<typeof createSessionClient>, id: string) => Promise<unknown>

const CALLS: Readonly<Record<string, { readonly call: Call; readonly repeats: boolean }>> = {
  create: { call: (client) => client.create(), repeats: false },
  list: { call: (client) => client.list(), repeats: true },
  load: { call: (client, id) => client.load(id), repeats: true },
  context: { call: (client, id) => client.context(id), repeats: true },
  rename: { call: (client, id) => client.rename(id, "x"), repeats: false },
  prompt: { call: (client, id) => client.prompt(id, { text: "x" }), repeats: true },
  stop: { call: (client, id) => client.stop(id, newId()), repeats: true },
  delete: { call: (client, id) => client.delete(id), repeats: false },
}

test.each(Object.entries(CALLS))(
  "%s without an answer is repeated only if that is harmless",
  async (_, { call, repeats }) => {
    const { handler, client } = serve({ background: false })
    const { id } = await client.create()
    for (const failure of [
      new TypeError("no connection"),
      new Response(null, { status: 503 }),
      new Response("<html>", { status: 502 }),
      // No error of the handler: that of a server on the way.
      new Response("<html>", { status: 500 }),
    ]) {
      const requests: string[] = []
      const failing = createSessionClient({
        url: "http://host/",
        async fetch(url, init) {
          requests.push(`${init.method} ${String(init.body)}`)
          if (requests.length > 1) return handler(new Request(url, init))
          if (failure instanceof Error) throw failure
          return failure.clone()
        },
      })
      const outcome = await call(failing, id).then(
        () => "answered",
        (error: SessionApiError) => `${error.code} ${error.status}`,
      )
      if (repeats) expect(outcome).toBe("answered")
      else expect(outcome).toBe(`indeterminate ${failure instanceof Error ? undefined : failure.status}`)
      // A repetition is the same request: a prompt has the same id.
      expect(requests).toHaveLength(repeats ? 2 : 1)
      expect(new Set(requests).size).toBe(1)
    }
  },
)

test("refusals are not repeated, and have the code and the status of the answer", async () => {
  const { handler, client } = serve()
  let requests = 0
  const counting = createSessionClient({
    url: "http://host",
    fetch: (url, init) => (requests++, handler(new Request(url, init))),
  })
  const error = await counting.load(newId()).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(SessionApiError)
  expect([hasCode(error, "not_found"), (error as SessionApiError).status, requests]).toEqual([true, 404, 1])
  await expect(async () => {
    for await (const _ of client.events(newId())) break
  }).rejects.toMatchObject({ code: "not_found" })
})

const REDIRECTED = "The server answered with a redirect (302) to"

test("a redirect is not followed and not repeated, and the error says so; no credentials are asked for that were not given", async () => {
  const sent: RequestInit[] = []
  let dropped = 0
  const client = createSessionClient({
    url: "http://host",
    async fetch(_, init) {
      sent.push(init)
      const body = new ReadableStream({ cancel: () => void dropped++ })
      return new Response(body, { status: 302, headers: { location: "http://elsewhere/?token=x" } })
    },
  })
  const error = {
    code: "failed",
    status: 302,
    message: `${REDIRECTED} http://elsewhere/, which is not followed; check \`url\`.`,
  }
  await expect(client.load(newId())).rejects.toMatchObject(error)
  await expect(client.create()).rejects.toMatchObject(error)
  // `redirect: "error"` and any `credentials` are errors in workerd.
  expect(sent.map((init) => [init.redirect, "credentials" in init])).toEqual([
    ["manual", false],
    ["manual", false],
  ])
  expect(dropped).toBe(2)
})

test("the error of a redirect to the same route names the `url` to use", async () => {
  const client = createSessionClient({
    url: "http://host/api/",
    async fetch(url) {
      const location = url.replace("http://host", "https://elsewhere")
      return new Response(null, { status: 302, headers: { location } })
    },
  })
  const message = `${REDIRECTED} https://elsewhere/api/sessions/a/context, which is not followed; use https://elsewhere/api as \`url\`.`
  await expect(client.context("a", { window: 9 })).rejects.toMatchObject({ message })
})

test("a signal ends a call and its repetitions with `aborted`", async () => {
  const stop = new AbortController()
  const client = createSessionClient({
    url: "http://host",
    fetch: () => {
      stop.abort()
      return Promise.reject(new TypeError("no connection"))
    },
  })
  await expect(client.list({}, { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" })
})

test("headers are sent with every request, and a function is asked each time", async () => {
  const { handler } = serve()
  const sent: (string | null)[] = []
  let n = 0
  const client = createSessionClient({
    url: "http://host",
    headers: () => ({ authorization: `token ${n++}` }),
    fetch: (url, init) => {
      const request = new Request(url, init)
      sent.push(request.headers.get("authorization"))
      return handler(request)
    },
  })
  const { id } = await client.create()
  await client.load(id)
  for await (const _ of client.events(id)) break
  expect(sent).toEqual(["token 0", "token 1", "token 2"])
})

test("the client imports no file of the server, and no zod", () => {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const follow = (url: URL): void => {
    if (seen.has(url.pathname)) return
    seen.add(url.pathname)
    const text = readFileSync(url, "utf8")
    for (const [, from = ""] of text.matchAll(/^(?:import|export|\}) (?!type )(?:[^"]* )?from "([^"]+)"$/gm)) {
      if (from.startsWith(".")) follow(new URL(from, url))
      else packages.add(from)
    }
  }
  follow(new URL("../../src/client.ts", import.meta.url))
  expect([...packages].filter((name) => !name.startsWith("@sessions/core"))).toEqual([])
  const files = [...seen].map((path) => path.slice(path.indexOf("/src/") + 5))
  expect(files).toContain("sessions/client.ts")
  expect(files.filter((file) => /handler|routes|runner|answers|authorize/.test(file))).toEqual([])
})
