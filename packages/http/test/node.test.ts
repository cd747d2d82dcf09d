/** The listener for `node:http`, as connections see it that do what `fetch` does not. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2"
import { type AddressInfo, connect } from "node:net"
import { afterEach, expect, test } from "vitest"
import { toNodeListener } from "../src/node.ts"
import { serve as serveSessions } from "./sessions/server.ts"
import type { Handler } from "../src/server.ts"

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function listen(handler: Handler, around?: (listener: RequestListener) => RequestListener): Promise<number> {
  const listener = toNodeListener(handler)
  const server = createServer(around === undefined ? listener : around(listener))
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return (server.address() as AddressInfo).port
}

/** What a connection gets that has sent this text, until it has `until` or is closed. */
function exchange(port: number, text: string, until?: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    let got = ""
    socket.on("data", (part) => {
      got += part.toString("latin1")
      if (until?.test(got) === true) socket.destroy()
    })
    // A server that does not read on may reset the connection after its answer.
    socket.on("error", (error) => (got === "" ? reject(error) : undefined))
    socket.on("close", () => resolve(got))
  })
}

const lines = (...all: readonly string[]): string => `${all.join("\r\n")}\r\n\r\n`

test("a connection whose body was refused unread is closed, and its answer says so: the next request would not be found behind it", async () => {
  const port = await listen(serveSessions().handler)
  const next = lines("GET /sessions HTTP/1.1", "Host: x")
  const post = (path: string, type: string): string =>
    lines(`POST ${path} HTTP/1.1`, "Host: x", `Content-Type: ${type}`, "Content-Length: 500000") + "x".repeat(500_000)
  for (const [path, type, status] of [
    ["/sessions", "application/json", 413],
    ["/sessions", "text/plain", 415],
    ["/nothing", "application/json", 404],
  ] as const) {
    const got = await exchange(port, post(path, type) + next, /\}\}$/)
    expect(got).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(got.toLowerCase()).toContain("connection: close")
  }
  const read = lines("POST /sessions HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 2")
  const both = await exchange(port, `${read.trimEnd()}\r\n\r\n{}${next}`, /HTTP\/1.1 201 [^]*HTTP\/1.1 200 [^]*\}$/)
  expect(both.toLowerCase()).not.toContain("connection: close")
})

test("a body is read whole whether it comes with its head, behind it, in pieces or without a length, and the connection stays open", async () => {
  const port = await listen(serveSessions().handler)
  const head = "POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
  const body = '{"title":"Tea"}'
  const length = `Content-Length: ${body.length}\r\n\r\n`
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
  const requests = [
    [`${head}${length}${body}`],
    [`${head}${length}`, body],
    [`${head}${length}${body.slice(0, 5)}`, body.slice(5, 9), body.slice(9)],
    [`${head}Transfer-Encoding: chunked\r\n\r\n${chunk(body)}${chunk("")}`],
    [`${head}Transfer-Encoding: chunked\r\n\r\n`, chunk(body.slice(0, 5)), chunk(body.slice(5)), chunk("")],
    [`${head}Content-Length: 0\r\n\r\n`],
  ]
  const socket = connect(port, "127.0.0.1")
  let got = ""
  socket.on("data", (part) => (got += part.toString("latin1")))
  const answers = (): string[] => got.split("HTTP/1.1 ").slice(1)
  for (const [index, pieces] of requests.entries()) {
    for (const piece of pieces) {
      await new Promise((resolve) => void socket.write(piece, resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => answers()[index] ?? "").toMatch(/\}$/)
  }
  socket.destroy()
  expect(answers().map((answer) => answer.slice(0, 3))).toEqual(["201", "201", "201", "201", "201", "400"])
  expect(
    answers()
      .slice(0, 5)
      .every((answer) => answer.includes('"title":"Tea"')),
  ).toBe(true)
  expect(got.toLowerCase()).not.toContain("connection: close")
})

test("`authorize` may read the body of a request, and the handler reads it as well", async () => {
  const bodies: string[] = []
  const port = await listen(
    serveSessions({
      authorize: async (request) => {
        bodies.push(await request.clone().text())
        return "somebody"
      },
    }).handler,
  )
  expect((await fetch(`http://127.0.0.1:${port}/sessions`, POST)).status).toBe(201)
  expect(bodies).toEqual([POST.body])
})

test("a stream is cancelled when its client goes, also when it went before the answer was there", async () => {
  let arrived = (): void => undefined
  let cancelled = (): void => undefined
  let release = (): void => undefined
  const port = await listen(async () => {
    arrived()
    await new Promise<void>((resolve) => (release = resolve))
    return new Response(
      new ReadableStream<Uint8Array>({
        pull: () => new Promise(() => undefined),
        cancel: () => cancelled(),
      }),
    )
  })
  for (const early of [true, false]) {
    const isArrived = new Promise<void>((resolve) => (arrived = resolve))
    const isCancelled = new Promise<void>((resolve) => (cancelled = resolve))
    const socket = connect(port, "127.0.0.1", () => socket.write(lines("GET / HTTP/1.1", "Host: x")))
    const isClosed = new Promise((resolve) => servers[0]?.once("connection", (of) => of.once("close", resolve)))
    await isArrived
    if (early) {
      socket.destroy()
      await isClosed
    }
    release()
    await new Promise((resolve) => setImmediate(resolve))
    if (!early) socket.destroy()
    // Nothing else happens on a connection that is closed, so the cancellation does not wait for anything.
    const outcome = early ? Promise.race([isCancelled, Promise.resolve("not cancelled")]) : isCancelled
    await expect(outcome).resolves.toBeUndefined()
  }
})

test("HEAD reads no body, and what is no request is 400", async () => {
  let read = 0
  const port = await listen(async () => {
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          read++
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, { headers: { "x-test": "yes" } })
  })
  expect(await exchange(port, lines("HEAD / HTTP/1.1", "Host: x"), /\r\n\r\n/)).toMatch(
    /^HTTP\/1.1 200 [^]*x-test: yes/,
  )
  expect(read).toBe(0)
  const answerTo = (request: string): Promise<string> => exchange(port, lines(request, "Host: x"), /\r\n\r\n/)
  expect(await answerTo("OPTIONS * HTTP/1.1")).toMatch(/^HTTP\/1.1 400 /)
  // Bun has requests with this method.
  expect(await answerTo("TRACE / HTTP/1.1")).toMatch(/^HTTP\/1.1 (?:200|400) /)
})

type Mounted = IncomingMessage & { body?: unknown; originalUrl?: string }

const POST = { method: "POST", headers: { "content-type": "application/json" }, body: '{"title":"Tea ☕"}' }

test("behind a body parser the body is what it has made of it; one that is nowhere is told as that", async () => {
  const after =
    (parsed: (bytes: Buffer) => unknown) =>
    (listener: RequestListener): RequestListener =>
    async (incoming: Mounted, outgoing) => {
      const parts: Buffer[] = []
      for await (const part of incoming) parts.push(part as Buffer)
      incoming.body = parsed(Buffer.concat(parts))
      listener(incoming, outgoing)
    }
  const parsers = [(bytes: Buffer): unknown => JSON.parse(bytes.toString()), (bytes: Buffer) => bytes, String]
  for (const parser of parsers) {
    const port = await listen(serveSessions().handler, after(parser))
    const answer = await fetch(`http://127.0.0.1:${port}/sessions`, POST)
    expect(await answer.json()).toMatchObject({ info: { title: "Tea ☕" } })
  }
  const port = await listen(
    serveSessions().handler,
    after(() => undefined),
  )
  const answer = await fetch(`http://127.0.0.1:${port}/sessions`, POST)
  expect([answer.status, JSON.stringify(await answer.json())]).toEqual([
    500,
    expect.stringContaining("Mount the handler before what reads bodies"),
  ])
})

test("a listener that a framework has mounted at its `basePath`, or at a path that it does not know, finds its routes", async () => {
  const at =
    (path: string) =>
    (listener: RequestListener): RequestListener =>
    (incoming: Mounted, outgoing) => {
      incoming.originalUrl = incoming.url ?? ""
      incoming.url = incoming.originalUrl.slice(path.length)
      listener(incoming, outgoing)
    }
  for (const options of [{ basePath: "/api" }, {}]) {
    const port = await listen(serveSessions(options).handler, at("/api"))
    expect((await fetch(`http://127.0.0.1:${port}/api/sessions?limit=1`)).status).toBe(200)
  }
})

const isNode = !("Bun" in globalThis) && !("Deno" in globalThis)
if (!isNode)
  console.log("HTTP/2 is tried on Node only: Bun and Deno have no complete `node:http2`, and take the handler itself.")

test.runIf(isNode)("a server of HTTP/2 serves calls, bodies and events", async () => {
  const { handler, client } = serveSessions()
  const { id } = await client.create()
  const server = createHttp2Server(toNodeListener(handler))
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const connection = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const call = (headers: Record<string, string>, body?: string, until?: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const stream = connection.request(headers, { endStream: body === undefined })
      let got = ""
      stream.on("response", (answer) => (got += `${answer[":status"]} `))
      stream.setEncoding("utf8").on("data", (text: string) => {
        got += text
        if (until?.test(got) === true) stream.close()
      })
      stream.on("error", reject).on("close", () => resolve(got))
      if (body !== undefined) stream.end(body)
    })
  try {
    const post = { ":method": "POST", ":path": "/sessions", "content-type": "application/json" }
    expect(await call(post, POST.body)).toMatch(/^201 .*Tea/)
    expect(await call({ ":path": `/sessions/${id}/events` }, undefined, /event: state/)).toMatch(/^200 event: state/)
    // Larger than the limit: the rest of the body is left unread.
    expect(await call(post, `{"title":"${"x".repeat(200_000)}"}`)).toMatch(/^413 /)
    expect(await call({ ":path": "/sessions" })).toMatch(/^200 /)
  } finally {
    connection.destroy()
    server.close()
  }
})

test("a body that its client cuts off is no failure of the server", async () => {
  const errors: unknown[] = []
  const { handler } = serveSessions({ onError: (error) => errors.push(error) })
  let answered: ((status: number) => void) | undefined
  const status = new Promise<number>((resolve) => (answered = resolve))
  const port = await listen(async (request) => {
    const answer = await handler(request)
    answered?.(answer.status)
    return answer
  })
  const head = lines("POST /sessions HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 90000")
  const socket = connect(port, "127.0.0.1", () => socket.write(`${head}{"title":"`, () => socket.destroy()))
  expect([await status, errors]).toEqual([499, []])
})

test("a path that climbs is 400, whatever it would lead to", async () => {
  const port = await listen(serveSessions().handler)
  for (const path of ["/sessions/..", "/sessions/%2e%2e/sessions", "/sessions/./sessions", "/x/.%2E/sessions?limit=1"])
    expect(await exchange(port, lines(`GET ${path} HTTP/1.1`, "Host: x"), /\r\n\r\n/)).toMatch(/^HTTP\/1.1 400 /)
})
