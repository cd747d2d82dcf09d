/** `@sessions/http/node`: serves a handler with `node:http`, `node:https` and frameworks that take their listeners. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Readable } from "node:stream"
import type { Handler } from "./handler.ts"

/**
 * A listener for `createServer` of Node. It streams both bodies, and cancels that of the response when the client has gone. Bun, Deno and
 * Workers take the handler itself.
 */
export function toNodeListener(handler: Handler): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    serve(handler, incoming, outgoing).catch(() => outgoing.destroy())
  }
}

async function serve(handler: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const request = toRequest(incoming)
  if (request === undefined) return void outgoing.writeHead(400).end()
  const { status, headers, body } = await handler(request)
  // A body that the handler did not read stands before the next request of this connection.
  if (!incoming.complete) outgoing.setHeader("connection", "close")
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null || incoming.method === "HEAD") {
    await body?.cancel()
    return void outgoing.end()
  }
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  outgoing.once("close", cancel)
  // The client may have gone before the answer was there, and a stream of events would wait for ever.
  if (outgoing.destroyed) cancel()
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    if (!outgoing.write(step.value) && !outgoing.destroyed) await drained(outgoing)
  }
  outgoing.end()
}

/** Undefined if the address is none, such as `*`, or the method is none of a `Request`, such as TRACE. */
function toRequest(incoming: IncomingMessage): Request | undefined {
  const { method = "GET", url = "/", headers } = incoming
  // The host is not part of a route. A path that starts with two slashes must not be taken for one.
  const address = url.startsWith("/") ? `http://localhost${url}` : url
  if (!URL.canParse(address)) return undefined
  const init: RequestInit & { duplex?: "half" } = { method, headers: toHeaders(headers) }
  if (method !== "GET" && method !== "HEAD") {
    init.body = Readable.toWeb(incoming) as ReadableStream<Uint8Array>
    init.duplex = "half"
  }
  try {
    return new Request(address, init)
  } catch {
    return undefined
  }
}

function toHeaders(headers: IncomingMessage["headers"]): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? ""]).map((one): [string, string] => [name, one]),
  )
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      outgoing.off("drain", go)
      outgoing.off("close", go)
      resolve()
    }
    outgoing.on("drain", go)
    outgoing.on("close", go)
  })
}
