/** A model's server: streams what a script says, and remembers what it was asked. */
import { createServer } from "node:http"

export interface Endpoint {
  readonly url: string
  readonly asked: {
    readonly key: string | undefined
    readonly body: { readonly messages: readonly { role: string }[] }
  }[]
  close(): Promise<void>
}

type Answer =
  | { readonly status: number; readonly text: string }
  | { readonly deltas: readonly object[]; readonly finish: string }

/** `answer` is told how many results of tools it has got, and whether a summary is asked for. */
export async function openEndpoint(answer: (results: number, summary: boolean) => Answer): Promise<Endpoint> {
  const asked: Endpoint["asked"] = []
  const server = createServer((request, response) => {
    const open = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" }
    if (request.method === "OPTIONS") return void response.writeHead(204, open).end()
    let text = ""
    request.on("data", (piece) => (text += String(piece)))
    request.on("end", () => {
      const body = JSON.parse(text) as Endpoint["asked"][number]["body"]
      asked.push({ key: request.headers.authorization, body })
      const said = answer(
        body.messages.filter(({ role }) => role === "tool").length,
        body.messages[0]?.role === "system",
      )
      if ("status" in said) return void response.writeHead(said.status, open).end(said.text)
      response.writeHead(200, { ...open, "content-type": "text/event-stream" })
      for (const delta of said.deltas) response.write(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`)
      response.end(
        `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: said.finish }] })}\n\ndata: [DONE]\n\n`,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    asked,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
