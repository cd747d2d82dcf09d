/** A proxy on loopback that cuts, delays and half-closes connections to the server, before, while and after a statement is committed. */
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net"

export interface FaultProxy {
  readonly port: number
  /** Number of injected faults by name. */
  readonly injected: Readonly<Record<string, number>>
  /** The probability of a fault for each message of a client. */
  setFaultRate(rate: number): void
  close(): Promise<void>
}

interface Link {
  readonly client: Socket
  readonly server: Socket
  /** The answers go on to the client. */
  answers: boolean
  /** A message is still on its way to the server, though the client is gone. */
  isLate: boolean
}

type Fault = (link: Link, message: Buffer) => void

/** `connect` opens a connection to the server. */
export async function startFaultProxy(connect: () => Socket, random: () => number): Promise<FaultProxy> {
  const injected: Record<string, number> = {}
  const open = new Set<Socket>()
  let faultRate = 0

  const faults: Readonly<Record<string, Fault>> = {
    "cut before": ({ client, server }) => {
      client.destroy()
      server.destroy()
    },
    "cut within": ({ client, server }, message) => {
      server.end(message.subarray(0, message.length / 2))
      client.destroy()
    },
    // The server may be at the commit when it notices.
    "cut while it runs": ({ client, server }, message) => {
      server.end(message)
      client.destroy()
    },
    "answer lost": (link, message) => {
      link.answers = false
      link.server.write(message)
      link.server.once("data", () => {
        link.client.destroy()
        link.server.destroy()
      })
    },
    late: (link, message) => {
      link.answers = false
      link.isLate = true
      link.client.destroy()
      setTimeout(() => link.server.end(message), random() * 500)
    },
    "half closed": (link, message) => {
      link.answers = false
      link.client.end()
      link.server.write(message)
    },
    delayed: ({ server }, message) => void setTimeout(() => server.write(message), random() * 100),
  }
  const names = Object.keys(faults)

  const listener = createServer((client) => {
    const server = connect()
    const link: Link = { client, server, answers: true, isLate: false }
    for (const socket of [client, server]) {
      open.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => open.delete(socket))
    }
    client.on("data", (message) => {
      const name = random() < faultRate ? names[Math.floor(random() * names.length)] : undefined
      if (name === undefined) return void server.write(message)
      injected[name] = (injected[name] ?? 0) + 1
      faults[name]?.(link, message)
    })
    server.on("data", (answer) => {
      if (link.answers) client.write(answer)
    })
    server.on("close", () => client.destroy())
    client.on("end", () => server.end())
    // The server takes a hundred connections.
    client.on("close", () => {
      if (!link.isLate) server.end()
    })
  })
  await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    injected,
    setFaultRate: (rate) => void (faultRate = rate),
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => void listener.close(() => resolve()))
    },
  }
}

/** A connection to the server of a `postgres:` address, over TCP or the socket in the folder `?host=`. */
export function connectTo(url: string): Socket {
  const { hostname, port, searchParams } = new URL(url)
  const folder = searchParams.get("host")
  const number = port === "" ? 5432 : Number(port)
  return folder?.startsWith("/") === true
    ? createConnection(`${folder}/.s.PGSQL.${number}`)
    : createConnection(number, hostname)
}
