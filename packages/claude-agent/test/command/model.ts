/** A model on loopback that the command asks instead of Anthropic's: answers each request with the next text, and keeps what it was sent. */
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface AskedMessage {
  readonly role: string
  readonly content: unknown
}

export interface FakeModel {
  readonly url: string
  /** The conversation of each request for an answer. */
  readonly asked: (readonly AskedMessage[])[]
  close(): Promise<void>
}

export async function startModel(answer: (number: number) => string): Promise<FakeModel> {
  const asked: (readonly AskedMessage[])[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (piece: Buffer) => (body += piece.toString("utf8")))
    request.on("end", () => {
      const isMessages = request.method === "POST" && /^\/v1\/messages(\?|$)/.test(request.url ?? "")
      if (!isMessages)
        return void response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":1}')
      const { messages, stream, model } = JSON.parse(body) as {
        messages: AskedMessage[]
        stream?: boolean
        model: string
      }
      if (stream !== true)
        return void response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify(whole(model, "{}")))
      asked.push(messages)
      send(response, model, answer(asked.length))
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

const USAGE = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
let made = 0

function whole(model: string, text: string): object {
  const content = [{ type: "text", text }]
  return {
    id: `msg_${++made}`,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: USAGE,
  }
}

/** The events of one text. */
function send(response: ServerResponse, model: string, text: string): void {
  const events: readonly { readonly type: string; readonly [key: string]: unknown }[] = [
    { type: "message_start", message: { ...whole(model, ""), content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE },
    { type: "message_stop" },
  ]
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""))
}
