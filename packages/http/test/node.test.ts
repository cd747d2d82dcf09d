/** The listener for `node:http`, as connections see it that do what `fetch` does not. */
import { createServer, type Server } from "node:http"
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

async function listen(handler: Handler): Promise<number> {
  const server = createServer(toNodeListener(handler))
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
    const got = await exchange(port, post(path, type) + next, /\r\n0\r\n\r\n$/)
    expect(got).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(got.toLowerCase()).toContain("connection: close")
  }
  const read = lines("POST /sessions HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 2")
  const both = await exchange(
    port,
    `${read.trimEnd()}\r\n\r\n{}${next}`,
    /HTTP\/1.1 201 [^]*HTTP\/1.1 200 [^]*\r\n0\r\n\r\n$/,
  )
  expect(both.toLowerCase()).not.toContain("connection: close")
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
