/** Between a client and the server, on loopback: loses requests and answers, delivers late, twice and in pieces. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"

export interface FaultProxy {
  readonly endpoint: string
  /** How often each fault struck. */
  readonly struck: Readonly<Record<string, number>>
  /** Faults from now on, or none. */
  storm(risk: number): void
  /** Resolves when nothing is under way any more that nobody waits for. */
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

type Fault = (send: () => Promise<Answer>, response: ServerResponse) => Promise<Answer | undefined>

export async function startFaultProxy(target: string, random: () => number): Promise<FaultProxy> {
  const struck: Record<string, number> = {}
  const late = new Set<Promise<unknown>>()
  let risk = 0

  const faults: Readonly<Record<string, Fault>> = {
    "request lost": async (_, response) => lose(response),
    "answer lost": async (send, response) => {
      await send()
      return lose(response)
    },
    late: async (send, response) => {
      const sending = pause(random() * 3_000).then(send, send)
      late.add(sending)
      void sending.catch(() => undefined).then(() => late.delete(sending))
      return lose(response)
    },
    twice: async (send) => {
      await send()
      return send()
    },
    "slow down": async () => refusal(503, "SlowDown"),
    "internal error, done": async (send) => {
      await send()
      return refusal(500, "InternalError")
    },
    "cut off": async (send, response) => {
      const { status, headers, body } = await send()
      response.writeHead(status, headers)
      response.write(body.subarray(0, body.length / 2))
      await pause(5)
      return lose(response)
    },
  }

  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy())
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await whole(incoming)
    const send = (): Promise<Answer> => forward(target, incoming, body)
    const names = Object.keys(faults)
    const name = random() < risk ? names[Math.floor(random() * names.length)] : undefined
    if (name !== undefined) struck[name] = (struck[name] ?? 0) + 1
    const result = name === undefined ? await send() : await faults[name]?.(send, response)
    if (result === undefined) return
    response.writeHead(result.status, result.headers)
    response.end(result.body)
  }

  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    struck,
    storm: (value) => void (risk = value),
    async close() {
      await Promise.allSettled(late)
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

/** The host that was signed stays, so that the server finds the signature good. */
function forward(
  target: string,
  { method = "GET", url = "/", headers }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url, target), { method, headers, agent: false }, (incoming) => {
      whole(incoming).then(
        (content) => resolve({ status: incoming.statusCode ?? 502, headers: incoming.headers, body: content }),
        reject,
      )
    })
    outgoing.once("error", reject)
    outgoing.end(body)
  })
}

async function whole(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

function lose(response: ServerResponse): undefined {
  response.destroy()
  return undefined
}

function refusal(status: number, code: string): Answer {
  const body = Buffer.from(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>injected</Message></Error>`)
  return { status, headers: { "content-type": "application/xml", "content-length": String(body.length) }, body }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
