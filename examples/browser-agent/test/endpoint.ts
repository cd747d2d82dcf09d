/** A model server for tests: streams scripted answers and records the requests. */
import { createServer } from "node:http"

export interface Endpoint {
  readonly url: string
  readonly requests: {
    readonly key: string | undefined
    readonly body: { readonly messages: readonly { role: string }[] }
  }[]
  close(): Promise<void>
}

type Answer =
  | { readonly status: number; readonly text: string }
  | { readonly deltas: readonly object[]; readonly finish: string }

/** @param answer gets the number of tool results in the request, and whether it asks for a summary */
export async function openEndpoint(answer: (results: number, summary: boolean) => Answer): Promise<Endpoint> {
  const requests: Endpoint["requests"] = []
  const server = createServer((request, response) => {
    const open = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" }
    if (request.method === "OPTIONS") return void response.writeHead(204, open).end()
    let text = ""
    request.on("data", (chunk) => (text += String(chunk)))
    request.on("end", () => {
      const body = JSON.parse(text) as Endpoint["requests"][number]["body"]
      requests.push({ key: request.headers.authorization, body })
      const scripted = answer(
        body.messages.filter(({ role }) => role === "tool").length,
        body.messages[0]?.role === "system",
      )
      if ("status" in scripted) return void response.writeHead(scripted.status, open).end(scripted.text)
      response.writeHead(200, { ...open, "content-type": "text/event-stream" })
      for (const delta of scripted.deltas) response.write(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`)
      response.end(
        `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: scripted.finish }] })}\n\ndata: [DONE]\n\n`,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
