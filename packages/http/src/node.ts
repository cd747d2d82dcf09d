/** `@sessions/http/node`: serves a handler with `node:http`, `node:https`, `node:http2` and frameworks that take their listeners. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2"
import { Readable } from "node:stream"
import { json } from "./answers.ts"
import { type Answer, serveOf, setBody, TextAnswer } from "./direct.ts"
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
  const given = await bodyOf(incoming)
  const answer = given === undefined ? readBefore() : await answerOf(handler, incoming, given)
  // A body that the handler did not read stands before the next request of this connection. HTTP/2 has streams in its place.
  const isRead = incoming.complete || given?.here !== undefined
  if (!isRead && incoming.httpVersionMajor < 2) outgoing.setHeader("connection", "close")
  if (answer instanceof TextAnswer) sendText(incoming, outgoing, answer)
  else await sendStream(incoming, outgoing, answer)
}

async function answerOf(handler: Handler, incoming: Incoming, { content, here }: Body): Promise<Answer> {
  const request = toRequest(incoming, handler.basePath ?? "", content)
  if (request === undefined) return failed(400, "invalid", "This address or method cannot be served.")
  if (here !== undefined) setBody(request, here)
  return serveOf(handler)(request)
}

function sendText({ method }: Incoming, outgoing: Outgoing, { status, headers, text }: TextAnswer): void {
  outgoing.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) })
  outgoing.end(method === "HEAD" ? "" : text)
}

async function sendStream(
  { method }: Incoming,
  outgoing: Outgoing,
  { status, headers, body }: Response,
): Promise<void> {
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body === null || method === "HEAD") {
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
function toRequest(incoming: Incoming, basePath: string, body: BodyInit | null): Request | undefined {
  const { method = "GET", headers } = incoming
  const url = urlOf(incoming, basePath)
  // The host is not part of a route. A path that starts with two slashes must not be taken for one.
  const address = url.startsWith("/") ? `http://localhost${url}` : url
  if (!URL.canParse(address) || climbs(url)) return undefined
  const init: RequestInit & { duplex?: "half" } = { method, headers: toHeaders(headers) }
  if (body !== null) Object.assign(init, { body, duplex: "half" })
  try {
    return new Request(address, init)
  } catch {
    return undefined
  }
}

interface Body {
  readonly content: BodyInit | null
  /** All of it, if it was there. The parser may not have come to its end. */
  readonly here?: Uint8Array
}

/**
 * Most bodies came with the head of their request, and are taken as they are: a stream of a short one takes longer than all else that is done
 * with it. Undefined if a body parser has taken the body, and has not kept it.
 */
async function bodyOf(incoming: Incoming): Promise<Body | undefined> {
  const { method, headers, body } = incoming
  if (method === "GET" || method === "HEAD") return { content: null }
  if (wasRead(incoming)) return isKept(body) ? { content: kept(body) } : undefined
  // The parser goes on to the body when this listener has returned.
  await Promise.resolve()
  if (incoming.readableLength !== Number(headers["content-length"]))
    return { content: Readable.toWeb(incoming) as ReadableStream<Uint8Array> }
  const here = (incoming.read() as Uint8Array | null) ?? new Uint8Array()
  return { content: streamOf(here), here }
}

/** A `Request` takes three times as long with the bytes themselves. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      pull(controller) {
        if (bytes.length > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
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
function wasRead({ readableDidRead, readableEnded }: Incoming): boolean {
  return readableDidRead || readableEnded
}

function isKept(body: unknown): boolean {
  return body !== undefined && body !== null
}

/** What a body parser has made of the body, as a body again. */
function kept(body: unknown): BodyInit {
  return typeof body === "string" || ArrayBuffer.isView(body) ? (body as BodyInit) : JSON.stringify(body)
}

function readBefore(): TextAnswer {
  const message =
    "The body of the request was read before it reached the handler of @sessions/http, and is not in `request.body`. Mount the handler before what " +
    "reads bodies."
  return failed(500, "internal", message)
}

function failed(status: number, code: string, message: string): TextAnswer {
  return json(status, { error: { code, message } })
}

/** Without the names with a colon, by which HTTP/2 has method and path. */
function toHeaders(headers: IncomingMessage["headers"]): Record<string, string> {
  const given = Object.entries(headers).filter(([name]) => !name.startsWith(":"))
  return Object.fromEntries(given.map(([name, value = ""]) => [name, Array.isArray(value) ? value.join(", ") : value]))
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
