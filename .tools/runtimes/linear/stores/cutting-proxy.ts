/** A proxy between two sockets of PostgreSQL that cuts connections: before a request arrives, before its answer does, or with the request late. */
import { createConnection, createServer, type NetConnectOpts, type Socket } from "node:net"
import type { Dice } from "../../../../packages/core/test/dice.ts"

export interface CuttingProxy {
  /** Resolves when the server has closed all connections, so that no request can have an effect any more. */
  close(): Promise<void>
}

const LONGEST_DELAY_MS = 200

/** `rate` is the share of requests with a fault. */
export async function startCuttingProxy(
  path: string,
  target: NetConnectOpts,
  random: Dice,
  rate: number,
): Promise<CuttingProxy> {
  const open = new Set<Promise<void>>()
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = createConnection(target)
    clients.add(client)
    const closed = new Promise<void>((resolve) => upstream.once("close", () => resolve()))
    open.add(closed)
    void closed.then(() => {
      open.delete(closed)
      client.destroy()
    })
    client.on("error", () => undefined)
    upstream.on("error", () => undefined)
    // The server finishes what it has received before it notices the end.
    client.once("close", () => {
      clients.delete(client)
      if (!isLate) upstream.end()
    })
    let isLate = false
    let isMute = false
    upstream.on("data", (bytes) => {
      if (isMute) client.destroy()
      else client.write(bytes)
    })
    client.on("data", (bytes) => {
      if (random.next() >= rate) return upstream.write(bytes)
      const fault = random.pick(["request lost", "answer lost", "late"] as const)
      if (fault === "answer lost") {
        isMute = true
        return upstream.write(bytes)
      }
      if (fault === "late") {
        isLate = true
        setTimeout(() => upstream.end(bytes), random.next() * LONGEST_DELAY_MS)
      }
      return client.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    async close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const client of clients) client.destroy()
      await Promise.all(open)
      await ended
    },
  }
}
