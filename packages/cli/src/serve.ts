/** Serves a function of Fetch's Request and Response on loopback, by node:http, which Node, Bun and Deno have. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import { CommandError } from "./errors.ts"

export interface Served {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Port 0: any free one. */
export async function serveOnLoopback(handle: (request: Request) => Promise<Response>, port: number): Promise<Served> {
  // Other commands do without it, and start sooner.
  const { createServer } = await import("node:http")
  const server = createServer((incoming, outgoing) => {
    // A connection that ends early is no failure of the server.
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error & { code?: string }) =>
      reject(
        error.code === "EADDRINUSE"
          ? new CommandError(`port ${port} is in use; choose another one with --port, or 0 for any free one.`)
          : error,
      ),
    )
    server.listen(port, "127.0.0.1", resolve)
  })
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const stop = new AbortController()
  outgoing.once("close", () => stop.abort())
  const request = toRequest(incoming, stop.signal)
  const response = request === undefined ? new Response("Bad request", { status: 400 }) : await handle(request)
  // A body that was not read stands before the next request of this connection.
  if (!incoming.complete) outgoing.setHeader("connection", "close")
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (incoming.method === "HEAD" || response.body === null) {
    await response.body?.cancel()
    outgoing.end()
    return
  }
  const reader = response.body.getReader()
  // A stream of events may have nothing to say for long.
  stop.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined))
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (stop.signal.aborted) return
      // A slow reader slows the reading of the log.
      if (!outgoing.write(part.value)) await drained(outgoing)
    }
    outgoing.end()
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The address that the client has named, in `Host`. Undefined if it is none. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { headers, method = "GET", url = "/" } = incoming
  const { host } = headers
  const address = `http://${host}${url}`
  if (
    host === undefined ||
    !url.startsWith("/") ||
    !URL.canParse(address) ||
    new URL(address).host !== host.toLowerCase()
  )
    return undefined
  const given = Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))
  try {
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: Object.fromEntries(given) as Record<string, string>,
      signal,
    }
    if (method !== "GET" && method !== "HEAD") {
      init.body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>
      init.duplex = "half"
    }
    return new Request(address, init)
  } catch {
    // Methods such as TRACE.
    return undefined
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done)
      outgoing.off("close", done)
      resolve()
    }
    outgoing.once("drain", done)
    outgoing.once("close", done)
  })
}
