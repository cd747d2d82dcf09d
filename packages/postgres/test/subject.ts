/** The storage as a subject of the conformance suite: each location is a schema, and faults are injected between storage and driver. */
import type { Subject } from "@sessions/conformance"
import {
  createPostgresStorage,
  type PooledConnection,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
  type PostgresStorageOptions,
} from "@sessions/postgres"

export interface Location {
  readonly schema: string
  /** All storages that are open share it, as those of a process do. A crash leaves it dead, and the next storage gets another. */
  wire: Wire
}

/** What is between the storages and their connections. */
interface Wire {
  readonly client: PostgresClient
  dead: boolean
  /** Handles the next append's statement. */
  fault: ((send: () => Promise<Answer>) => Promise<Answer>) | undefined
}

type Answer = Awaited<ReturnType<PostgresConnection["query"]>>

/** Small limits, so that the cases that exceed them are fast. */
const LIMITS = { maxBatchBytes: 4_000_000, pollInterval: 50 }

let locations = 0

/** `connect` returns the pool or the client of all locations, which lives as long as the tests. */
export function createSubject(
  name: string,
  connect: () => Promise<Client>,
  options: Omit<PostgresStorageOptions, "client"> = {},
): Subject<Location> {
  const run = async (sql: string, values: unknown[] = []): Promise<Answer> => (await connect()).query(sql, values)
  return {
    name,
    async makeLocation() {
      locations++
      return { schema: `s${locations}_${crypto.randomUUID().slice(0, 8)}`, wire: wired(await connect()) }
    },
    async open(location) {
      if (location.wire.dead) location.wire = wired(await connect())
      return createPostgresStorage({ ...LIMITS, ...options, client: location.wire.client, schema: location.schema })
    },
    async removeLocation({ schema }) {
      await run(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    },
    async corruptLine({ schema }, session, seq) {
      const { rows } = await run(
        `SELECT b.seq, b.body FROM ${schema}.batch b JOIN ${schema}.session s USING (log)
         WHERE s.id = $1 AND b.seq <= $2 ORDER BY b.seq DESC LIMIT 1`,
        [session, seq],
      )
      const [row] = rows as { seq: string; body: Uint8Array }[]
      if (row === undefined) throw new Error(`no line ${seq}`)
      const body = new Uint8Array(row.body)
      let at = 0
      for (let line = Number(row.seq); line < seq; line++) at = body.indexOf(10, at) + 1
      body[at] = 0xff
      await run(
        `UPDATE ${schema}.batch SET body = $1 WHERE seq = $2 AND log = (SELECT log FROM ${schema}.session WHERE id = $3)`,
        [body, Number(row.seq), session],
      )
    },
    async corruptHead({ schema }, session) {
      await run(`UPDATE ${schema}.session SET log = 'damaged' WHERE id = $1`, [session])
    },
    async contains({ schema }, text) {
      for (const [table, column] of [
        ["session", "info"],
        ["batch", "body"],
        ["doc", "body"],
        ["blob", "body"],
      ]) {
        const sql = `SELECT 1 FROM ${schema}.${table} WHERE position($1::bytea IN ${column}) > 0`
        if ((await run(sql, [new TextEncoder().encode(text)])).rows.length > 0) return true
      }
      return false
    },
    crash(_, { wire }) {
      wire.dead = true
    },
    faults: {
      quota: (location) =>
        arm(location, async () => {
          throw Object.assign(new Error("could not extend file: No space left on device"), {
            code: "53100",
            severity: "ERROR",
          })
        }),
      requestLost: (location) =>
        arm(location, async () => {
          throw lost()
        }),
      responseLost: (location) =>
        arm(location, async (send) => {
          await send()
          throw lost()
        }),
      busy: (location) =>
        arm(location, async () => {
          throw Object.assign(new Error("could not serialize access"), { code: "40001", severity: "ERROR" })
        }),
      // The statement reaches the server after its connection seemed to be lost.
      late(location) {
        let deliver = async (): Promise<void> => undefined
        arm(location, async (send) => {
          deliver = async () => void (await send())
          throw lost()
        })
        return () => deliver()
      },
    },
  }
}

function arm({ wire }: Location, fault: Wire["fault"]): void {
  wire.fault = fault
}

function lost(): Error {
  return new Error("Connection terminated unexpectedly")
}

type Client = PostgresConnection | (PostgresConnection & PostgresPool)

/** A wire to a client, whose faults it injects. */
function wired(client: Client): Wire {
  const wire: Wire = { client: wrapped(client, () => wire), dead: false, fault: undefined }
  return wire
}

function wrapped(client: Client, wireOf: () => Wire): PostgresClient {
  const query =
    (connection: PostgresConnection): PooledConnection["query"] =>
    (statement, values) => {
      const wire = wireOf()
      if (wire.dead) return new Promise(() => undefined)
      const { fault } = wire
      const send = (to: PostgresConnection): Promise<Answer> => (to as PooledConnection).query(statement, values)
      const text = typeof statement === "string" ? statement : statement.text
      if (fault === undefined || !/^WITH (made|head)/.test(text)) return send(connection)
      wire.fault = undefined
      // Not on the connection, which the storage may have closed by then.
      return fault(() => send(client))
    }
  if (!("totalCount" in client)) return { query: query(client) }

  const known = new WeakMap<PooledConnection, PooledConnection>()
  return {
    totalCount: 0,
    on: (event, listener) => client.on(event, listener),
    async connect() {
      if (wireOf().dead) return new Promise(() => undefined)
      const connection = await client.connect()
      const same: PooledConnection = known.get(connection) ?? {
        query: query(connection),
        release: (destroy) => connection.release(destroy),
        on: (event, listener) => connection.on(event, listener),
      }
      known.set(connection, same)
      return same
    },
  }
}
