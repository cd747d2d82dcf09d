/**
 * PostgreSQL: processes of all runtimes on one schema of the test server, through a proxy that cuts connections. With faults, the
 * server is killed once in a round.
 */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle, findRuntimes, type Runtime } from "../../../../packages/fs/test/crash/processes.ts"
import { createDice } from "../../../../packages/core/test/dice.ts"
import { createPool, url } from "../../../../packages/postgres/test/server/server.ts"
import { startCuttingProxy } from "./cutting-proxy.ts"
import { readInProcess, startProcess } from "./processes.ts"
import type { Store } from "./store.ts"

/** The share of requests with a fault. Each one ends a connection. */
const FAULTS = 0.05
/** PostgreSQL's clients expect a socket of this name in the folder that is their host. */
const SOCKET = ".s.PGSQL.5432"

export async function openStore(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "sessions-linear-"))
  const [program = ""] = await bundle(folder, [new URL("../client/postgres.ts", import.meta.url)])
  const runtimes = findRuntimes()
  const pool = createPool()
  let started = 0
  return {
    atomicBatch: "all",
    async open(seed, faults) {
      const schema = `linear_${crypto.randomUUID().slice(0, 8)}`
      const host = mkdtempSync(join(folder, "socket-"))
      const proxy = await startCuttingProxy(join(host, SOCKET), targetOf(url), createDice(seed), faults ? FAULTS : 0)
      return {
        start: (plan, recording, begun) => {
          const runtime = runtimes[started++ % runtimes.length] as Runtime
          return startProcess(runtime, program, { ...plan, place: { url: at(host), schema } }, recording, begun)
        },
        crash: faults && process.send !== undefined ? crashServer : undefined,
        settle: () => proxy.close(),
        readStored: (plan) => readInProcess(runtimes[0] as Runtime, program, { ...plan, place: { url, schema } }),
        async remove() {
          await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
        },
      }
    },
    async close() {
      await pool.end()
      rmSync(folder, { recursive: true })
    },
  }
}

/** The process that has started this one has also started the server. */
async function crashServer(): Promise<void> {
  const running = once(process, "message")
  process.send?.("crash")
  await running
}

/** The server's address with another host. */
function at(host: string): string {
  const address = new URL(url)
  address.searchParams.set("host", host)
  return address.href
}

/** The path of the server's socket, or its host and port. */
function targetOf(address: string): { path: string } | { host: string; port: number } {
  const { searchParams, hostname, port } = new URL(address)
  const folder = searchParams.get("host")
  return folder?.startsWith("/") ? { path: join(folder, SOCKET) } : { host: hostname, port: Number(port || 5432) }
}
