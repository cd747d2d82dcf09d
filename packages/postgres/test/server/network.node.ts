/** The connection is cut before, within and after each request: what the calls of a storage are told is true. */
import { test } from "node:test"
import { register, type Subject } from "@sessions/conformance"
import { registerSchedules } from "@sessions/conformance/network"
import { createPostgresStorage } from "@sessions/postgres"
import type { Location } from "../subject.ts"
import { CUTS, startCuttingProxy } from "./cutting-proxy.ts"
import { connectTo } from "./fault-proxy.ts"
import { createPool, url } from "./server.ts"
import { pool as direct, server } from "./subject.ts"

const isDeep = process.env["DEEP"] !== undefined

const onNetwork: Subject<Location> = {
  ...server,
  name: "postgres on a network",
  network: {
    // All of them take minutes, which are the pauses before the repeats.
    names: isDeep ? CUTS : ["cut before", "cut after it was done", "late"],
    async open({ schema }, meet) {
      const tables = createPostgresStorage({ client: direct, schema })
      await tables.head("none")
      await tables[Symbol.asyncDispose]()
      let isReady = false
      const proxy = await startCuttingProxy(
        () => connectTo(url),
        (request) => (isReady ? meet(request) : undefined),
      )
      const through = new URL(url)
      through.searchParams.delete("host")
      through.hostname = "127.0.0.1"
      through.port = String(proxy.port)
      const pool = createPool({
        connectionString: through.href,
        max: 2,
        query_timeout: 400,
        connectionTimeoutMillis: 5_000,
      })
      const storage = createPostgresStorage({ client: pool, schema, pollInterval: 50 })
      // It has found its tables.
      await storage.head("none").catch(() => undefined)
      isReady = true
      return {
        arrive: proxy.arrive,
        storage: {
          ...storage,
          async [Symbol.asyncDispose]() {
            await storage[Symbol.asyncDispose]()
            await pool.end()
            await proxy.close()
          },
        },
      }
    },
  },
}

// A server has a hundred connections.
register(test, onNetwork, { only: ["network"], sizes: { race: 12 } })
registerSchedules(test, onNetwork, {
  seed: Number(process.env["SEED"] ?? Date.now() % 1_000_000),
  runs: Number(process.env["NETWORK_RUNS"] ?? (isDeep ? 2_000 : 5)),
  parallel: 30,
  onEnd: ({ runs, faults }) =>
    console.info(
      `measured: PostgreSQL on a network: ${runs} schedules, ${faults} cuts, 0 lost, 0 doubled, 0 wrong codes`,
    ),
})
