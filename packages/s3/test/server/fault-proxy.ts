/** An HTTP proxy on loopback that loses, delays, repeats and cuts off requests and answers between a client and the server. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export interface FaultProxy {
  readonly endpoint: string
  /** Number of injected faults by name. */
  readonly injected: Readonly<Record<string, number>>
  /** Sets the probability of a fault per request. */
  setFaultRate(rate: number): void
  /** Stops the proxy once all delayed requests have reached the server. */
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

/** Answers in place of the server, by what `send` gets from it; undefined if it has dealt with the response. */
export type Fault = (send: () => Promise<Answer>, response: ServerResponse) => Promise<Answer | undefined>

/** `target` returns the server of a request's path. `more` are further faults by name. */
export async function startFaultProxy(
  target: string | ((path: string) => string),
  random: () => number,
  more: Readonly<Record<string, Fault>> = {},
): Promise<FaultProxy> {
  const injected: Record<string, number> = {}
  const late = new Set<Promise<unknown>>()
  let faultRate = 0

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
    ...more,
  }

  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy())
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(incoming)
    const send = (): Promise<Answer> =>
      forward(typeof target === "string" ? target : target(incoming.url ?? ""), incoming, body)
    const names = Object.keys(faults)
    const name = random() < faultRate ? names[Math.floor(random() * names.length)] : undefined
    if (name !== undefined) injected[name] = (injected[name] ?? 0) + 1
    const result = name === undefined ? await send() : await faults[name]?.(send, response)
    if (result === undefined) return
    response.writeHead(result.status, result.headers)
    response.end(result.body)
  }

  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    injected,
    setFaultRate: (rate) => void (faultRate = rate),
    async close() {
      await Promise.allSettled(late)
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}

/** Keeps the Host header, which is part of the signature. */
function forward(
  target: string,
  { method = "GET", url = "/", headers }: IncomingMessage,
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url, target), { method, headers, agent: false }, (incoming) => {
      readAll(incoming).then(
        (content) => resolve({ status: incoming.statusCode ?? 502, headers: incoming.headers, body: content }),
        reject,
      )
    })
    outgoing.once("error", reject)
    outgoing.end(body)
  })
}

async function readAll(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
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
