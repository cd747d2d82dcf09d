/** A proxy on loopback whose requests meet other answers, for clients that take no `fetch`, such as the SDK of a store. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Meet } from "../subject.ts"
import { createNetwork, type Fetch } from "../network/network.ts"

export interface Proxy {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Lets the requests arrive that are still on their way. */
  readonly arrive: () => Promise<void>
  /** Ends its connections. */
  readonly close: () => Promise<void>
}

/** `fetch` passes a request on to the store; its URLs are below that of the proxy, with the path and the headers as they came. */
export async function startProxy(fetch: Fetch, meet: Meet): Promise<Proxy> {
  const network = createNetwork(fetch, meet)
  const server = createServer((request, response) => {
    pass(network.fetch, url, request, response).catch(() => response.destroy())
  })
  const url = await listen(server)
  return {
    url,
    arrive: network.arrive,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  // It must not keep the process of the tests alive.
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Whole requests are passed on. An answer that breaks off ends the connection, as it does on the way. */
async function pass(fetch: Fetch, url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bytesOf(request)
  const gone = new AbortController()
  response.once("close", () => gone.abort())
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
  const { method = "GET" } = request
  const answer = await fetch(`${url}${request.url}`, {
    method,
    headers,
    signal: gone.signal,
    ...(body.length > 0 && { body }),
  })
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  const reader = method === "HEAD" ? undefined : answer.body?.getReader()
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) response.write(step.value)
  response.end()
}

async function bytesOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  for await (const part of request) parts.push(part as Uint8Array)
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer())
}
