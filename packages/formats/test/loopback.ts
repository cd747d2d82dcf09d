/** A model on loopback, which real agents ask instead of their own: it answers every request the same way, and keeps the requests. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface LoopbackModel {
  /** Without a slash at the end. */
  readonly url: string
  /** The bodies of the requests, in order. */
  readonly requests: readonly Readonly<Record<string, unknown>>[]
  readonly close: () => void
}

/** `path`: a request to another one is 404. `answer` writes the events of an answer and ends the response. */
export async function startModel(path: RegExp, answer: (response: ServerResponse) => void): Promise<LoopbackModel> {
  const requests: Readonly<Record<string, unknown>>[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      if (request.method !== "POST" || !path.test(request.url ?? "")) {
        response.writeHead(404).end("{}")
        return
      }
      requests.push(JSON.parse(body) as Readonly<Record<string, unknown>>)
      response.writeHead(200, { "content-type": "text/event-stream" })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
