/** `@sessions/http/node`: serves a handler with `node:http`, `node:https`, `node:http2` and frameworks that take their listeners. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2"
import { Readable } from "node:stream"
import { jsonText } from "./answers.ts"
import type { Handler } from "./handler.ts"

/** A request of either module, with what Express and its kind add to it. */
type Incoming = (IncomingMessage | Http2ServerRequest) & { readonly originalUrl?: string; readonly body?: unknown }
type Outgoing = ServerResponse | Http2ServerResponse

/**
 * A listener for `createServer` of Node. It streams both bodies, and cancels that of the response when the client has gone. Bun, Deno and
 * Workers take the handler itself.
 */
export function toNodeListener(
  handler: Handler,
): (incoming: IncomingMessage | Http2ServerRequest, outgoing: ServerResponse | Http2ServerResponse) => void {
  return (incoming, outgoing) => {
    serve(handler, incoming, outgoing).catch(() => destroy(outgoing))
  }
}

async function serve(handler: Handler, incoming: Incoming, outgoing: Outgoing): Promise<void> {
  const answer = wasRead(incoming) && !isKept(incoming.body) ? readBefore() : await answerOf(handler, incoming)
  const { status, headers, body } = answer
  // A body that the handler did not read stands before the next request of this connection. HTTP/2 has streams in its place.
  if (!incoming.complete && incoming.httpVersionMajor < 2) outgoing.setHeader("connection", "close")
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null || incoming.method === "HEAD") {
    await body?.cancel()
    return void outgoing.end()
  }
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  outgoing.once("close", cancel)
  // The client may have gone before the answer was there, and a stream of events would wait for ever.
  if (isGone(outgoing)) cancel()
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    if (!writeTo(outgoing, step.value) && !isGone(outgoing)) await drained(outgoing)
  }
  outgoing.end()
}

async function answerOf(handler: Handler, incoming: Incoming): Promise<Response> {
  const request = toRequest(incoming, handler.basePath ?? "")
  if (request !== undefined) return handler(request)
  return failed(400, "invalid", "This address or method cannot be served.")
}

function destroy(outgoing: Outgoing): void {
  if ("stream" in outgoing) outgoing.stream.destroy()
  else outgoing.destroy()
}

function writeTo(outgoing: Outgoing, bytes: Uint8Array): boolean {
  return (outgoing as ServerResponse).write(bytes)
}

function isGone(outgoing: Outgoing): boolean {
  return "stream" in outgoing ? outgoing.stream.destroyed : outgoing.destroyed
}

/** Undefined if the address is none, such as `*`, or the method is none of a `Request`, such as TRACE. */
function toRequest(incoming: Incoming, basePath: string): Request | undefined {
  const { method = "GET", headers } = incoming
  const url = urlOf(incoming, basePath)
  // The host is not part of a route. A path that starts with two slashes must not be taken for one.
  const address = url.startsWith("/") ? `http://localhost${url}` : url
  if (!URL.canParse(address) || climbs(url)) return undefined
  const init: RequestInit & { duplex?: "half" } = { method, headers: toHeaders(headers) }
  if (method !== "GET" && method !== "HEAD") {
    init.body = wasRead(incoming) ? kept(incoming.body) : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>)
    init.duplex = "half"
  }
  try {
    return new Request(address, init)
  } catch {
    return undefined
  }
}

/** A framework takes the path at which a listener is mounted off the address, and the handler's own `basePath` may be that path. */
function urlOf({ url = "/", originalUrl = url }: Incoming, basePath: string): string {
  return url.startsWith(`${basePath}/`) || !originalUrl.startsWith(`${basePath}/`) ? url : originalUrl
}

/** Whether a segment is `.` or `..`: as a URL it would vanish, with the one before it, and another route be found. */
function climbs(url: string): boolean {
  const [path = ""] = url.split(/[?#]/, 1)
  return path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
}

/** Whether a body parser, such as `express.json()`, has taken the body. */
function wasRead({ readableDidRead, readableEnded, method }: Incoming): boolean {
  return method !== "GET" && method !== "HEAD" && (readableDidRead || readableEnded)
}

function isKept(body: unknown): boolean {
  return body !== undefined && body !== null
}

/** What a body parser has made of the body, as a body again. */
function kept(body: unknown): BodyInit {
  return typeof body === "string" || ArrayBuffer.isView(body) ? (body as BodyInit) : JSON.stringify(body)
}

function readBefore(): Response {
  const message =
    "The body of the request was read before it reached the handler of @sessions/http, and is not in `request.body`. Mount the handler before what " +
    "reads bodies."
  return failed(500, "internal", message)
}

function failed(status: number, code: string, message: string): Response {
  return jsonText(status, JSON.stringify({ error: { code, message } }))
}

/** Without the names with a colon, by which HTTP/2 has method and path. */
function toHeaders(headers: IncomingMessage["headers"]): [string, string][] {
  return Object.entries(headers)
    .filter(([name]) => !name.startsWith(":"))
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? ""]).map((one): [string, string] => [name, one]),
    )
}

function drained(outgoing: Outgoing): Promise<void> {
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
