/** A new database on the server that `pnpm bench` started, with a pool that counts statements. */
import { createSessions, type Sessions } from "@sessions/core"
import { createPostgresStorage, type PostgresStorage } from "@sessions/postgres"
import { Client, type ClientBase, Pool } from "pg"

export interface Database {
  /** A connection beside those of the storages. */
  readonly raw: ClientBase
  /** A storage on the pool that has prepared its tables. Without a wait for the disk, `fast` fills a database sooner. */
  readonly connect: (o?: { readonly fast?: boolean }) => Promise<PostgresStorage>
  readonly open: (o?: { readonly fast?: boolean }) => Promise<Sessions>
  /** The statements on the pool since the last call. */
  readonly statements: () => readonly string[]
}

let databases = 0

export async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const server = process.env["POSTGRES_BENCH_SERVER"] ?? ""
  databases++
  const name = `bench_${process.pid}_${databases}`
  const admin = new Client(server)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const address = new URL(server)
  address.pathname = `/${name}`
  const connectionString = address.href
  const raw = new Client(connectionString)
  const pool = new Pool({ connectionString })
  const fast = new Pool({ connectionString, options: "-c synchronous_commit=off" })
  const statements = countStatements(pool)
  const connect: Database["connect"] = async (o) => {
    const durability = o?.fast === true ? "os" : "disk"
    const storage = createPostgresStorage({
      client: o?.fast === true ? fast : pool,
      durability,
      maxSessionBytes: 4e9,
    })
    await storage.head("any")
    return storage
  }
  try {
    await raw.connect()
    return await work({ raw, connect, open: async (o) => createSessions({ storage: await connect(o) }), statements })
  } finally {
    await Promise.all([raw.end(), pool.end(), fast.end()])
    await admin.query(`DROP DATABASE ${name}`)
    await admin.end()
  }
}

function countStatements(pool: Pool): () => readonly string[] {
  let sent: string[] = []
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Object.assign(client, {
      query: (...args: unknown[]) => {
        sent.push(String(args[0]))
        return query(...args)
      },
    })
  })
  return () => {
    const all = sent
    sent = []
    return all
  }
}
