/** A proxy on loopback that cuts a connection to PostgreSQL at a message of the protocol: before a request, within it, after it was done. */
import { createServer, type AddressInfo, type Socket } from "node:net"
import type { Meet } from "@sessions/conformance"

export interface CuttingProxy {
  readonly port: number
  /** Lets the requests arrive that are still on their way. Resolves when the server has answered them. */
  readonly arrive: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What may happen to a request, by name. */
export const CUTS: readonly string[] = [
  "cut before",
  "cut within",
  "cut when it was sent",
  "cut after it was done",
  "cut within the answer",
  "no answer",
  "late",
  "answered late",
]

/** The messages of a client up to a query or a sync, which the server answers together, and the texts of their statements. */
interface Request {
  readonly bytes: Buffer
  /** Undefined: it begins the connection, or ends it. */
  readonly writes: boolean | undefined
}

const WRITES = /\b(?:INSERT|UPDATE|DELETE|COMMIT)\b/
/** Milliseconds of an answer that comes when the client has given up. */
const LATE_MS = 600

/** `connect` opens a connection to the server. */
export async function startCuttingProxy(connect: () => Socket, meet: Meet): Promise<CuttingProxy> {
  const open = new Set<Socket>()
  const late: (() => Promise<void>)[] = []

  const listener = createServer((client) => {
    const server = connect()
    for (const socket of [client, server]) {
      open.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => open.delete(socket))
    }
    const cut = (): void => {
      client.destroy()
      server.destroy()
    }
    let isKept = false
    let toClient = (answer: Buffer): void => void client.write(answer)
    const requests = createRequestReader()
    client.on("data", (bytes) => {
      for (const request of requests(bytes)) send(request)
    })
    server.on("data", (answer) => toClient(answer))
    server.on("close", () => client.destroy())
    client.on("close", () => {
      if (!isKept) server.end()
    })

    function send({ bytes, writes }: Request): void {
      const name = writes === undefined ? undefined : meet({ writes })
      if (name === "cut before") return cut()
      if (name === "cut within") return void server.write(bytes.subarray(0, bytes.length / 2), cut)
      if (name === "cut when it was sent") return void server.write(bytes, cut)
      if (name === "late") {
        isKept = true
        late.push(() => answered(server, bytes))
        return void client.destroy()
      }
      if (name === "cut after it was done") toClient = whenReady(cut)
      if (name === "cut within the answer") {
        toClient = (answer) => void client.write(answer.subarray(0, answer.length / 2), cut)
      }
      if (name === "no answer") toClient = () => undefined
      if (name === "answered late") toClient = (answer) => void setTimeout(() => client.write(answer), LATE_MS)
      server.write(bytes)
    }
  })
  await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    async arrive() {
      await Promise.all(late.splice(0).map((deliver) => deliver()))
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => void listener.close(() => resolve()))
    },
  }
}

/** Calls `act` when the server is ready for the next query: the last one is done. */
function whenReady(act: () => void): (answer: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (answer) => {
    rest = Buffer.concat([rest, answer])
    for (; rest.length >= 5; rest = rest.subarray(1 + rest.readInt32BE(1))) {
      if (rest.length < 1 + rest.readInt32BE(1)) return
      if (rest[0] === READY) return act()
    }
  }
}

/** Sends a request of a client that has gone, and ends the connection when it is answered. */
function answered(server: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (server.destroyed) return resolve()
    server.once("close", () => resolve())
    server.on(
      "data",
      whenReady(() => server.destroy()),
    )
    server.write(bytes)
  })
}

const [QUERY, SYNC, PARSE, BIND, TERMINATE, READY] = Array.from("QSPBXZ", (type) => type.charCodeAt(0))

/** Splits what a client sends into requests. The messages before the first one have no type: they begin the connection. */
function createRequestReader(): (bytes: Buffer) => readonly Request[] {
  const texts = new Map<string, string>()
  let rest = Buffer.alloc(0)
  let pending: Buffer[] = []
  let writes = false
  let isBegun = false

  return (bytes) => {
    const found: Request[] = []
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const at = isBegun ? 1 : 0
      if (rest.length < at + 4) return found
      const length = at + rest.readInt32BE(at)
      if (rest.length < length) return found
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      pending.push(message)
      const [type] = message
      if (isBegun) writes ||= WRITES.test(textOf(message, texts))
      if (isBegun && type !== QUERY && type !== SYNC && type !== TERMINATE) continue
      const isStatement = isBegun && type !== TERMINATE
      found.push({ bytes: Buffer.concat(pending), writes: isStatement ? writes : undefined })
      isBegun = true
      pending = []
      writes = false
    }
  }
}

/** The text of the statement that a message has or names. */
function textOf(message: Buffer, texts: Map<string, string>): string {
  const [first = "", second = ""] = message.subarray(5).toString("latin1").split("\0", 2)
  if (message[0] === QUERY) return first
  if (message[0] === PARSE) texts.set(first, second)
  return message[0] === BIND ? (texts.get(second) ?? "") : ""
}
