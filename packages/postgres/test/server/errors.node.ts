import assert from "node:assert/strict"
import { test } from "node:test"
import type { Head } from "@sessions/core/storage"
import { createPostgresStorage, type PostgresStorage, type PostgresStorageOptions } from "@sessions/postgres"
import { Client, type Pool, type PoolConfig } from "pg"
import { createPool, url, urlFor } from "./server.ts"

const admin = createPool()
let schemas = 0

interface Place {
  readonly schema: string
  readonly storage: PostgresStorage
  readonly head: Head
  /** A storage on the same tables, with a pool of its own. */
  readonly open: (pool?: PoolConfig, o?: Partial<PostgresStorageOptions>) => PostgresStorage
}

/** Runs a test in a schema with the session `a`, of one line. */
function withSession(name: string, work: (place: Place) => Promise<void>): void {
  void test(name, async () => {
    schemas++
    const schema = `errors_${process.pid}_${schemas}`
    const pools: Pool[] = []
    const open: Place["open"] = (config, o) => {
      const pool = createPool(config)
      pools.push(pool)
      return createPostgresStorage({ client: pool, schema, ...o })
    }
    const storage = open()
    try {
      const head = await storage.append("a", ["first"], { expect: 0 })
      await work({ schema, storage, head, open })
    } finally {
      await Promise.all(pools.map((pool) => pool.end()))
      await admin.query(`DROP SCHEMA ${schema} CASCADE`)
    }
  })
}

async function rejects(code: string, message: RegExp, act: Promise<unknown>): Promise<void> {
  await assert.rejects(act, (error: Error & { code?: string }) => {
    assert.equal(error.code, code, error.message)
    assert.match(error.message, message)
    return true
  })
}

async function linesOf(storage: PostgresStorage): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read("a")) lines.push(...chunk.lines)
  return lines
}

withSession(
  "a server that only reads serves head, read and list, and refuses an append with `unavailable`",
  async (o) => {
    const reader = o.open({ options: "-c default_transaction_read_only=on" })
    assert.deepEqual(await linesOf(reader), ["first"])
    assert.equal((await reader.head("a"))?.next, 1)
    for await (const row of reader.list()) assert.equal(row.id, "a")
    await rejects("unavailable", /read-only.*primary/, reader.append("a", ["x"], { expect: o.head }))
    assert.deepEqual(await linesOf(o.storage), ["first"])
  },
)

for (const [setting, message] of [
  ["statement_timeout", /statement_timeout.*nothing was written/],
  ["lock_timeout", /lock_timeout/],
] as const) {
  withSession(
    `an append that waits for longer than ${setting} is \`unavailable\`, and is not written later`,
    async (o) => {
      const hasty = o.open({ options: `-c ${setting}=50` })
      await hasty.head("a")
      const other = await admin.connect()
      await other.query("BEGIN")
      await other.query(`SELECT 1 FROM ${o.schema}.session FOR UPDATE`)
      await rejects("unavailable", message, hasty.append("a", ["x"], { expect: o.head }))
      await other.query("ROLLBACK")
      other.release()
      await hasty.append("a", ["second"], { expect: o.head })
      assert.deepEqual(await linesOf(o.storage), ["first", "second"])
    },
  )
}

for (const level of ["repeatable read", "serializable"]) {
  withSession(
    `with the default isolation "${level}" of many appends one succeeds, and all others are \`conflict\``,
    async (o) => {
      const writers = Array.from({ length: 4 }, () =>
        o.open({ options: `-c default_transaction_isolation=${level.replace(" ", "\\ ")}` }),
      )
      for (let round = 0, { head } = o; round < 10; round++) {
        const outcomes = await Promise.all(
          writers.map((writer, n) =>
            writer
              .append("a", [`round ${round} writer ${n}`], { expect: head })
              .catch((error: { code: string }) => error.code),
          ),
        )
        const won = outcomes.filter((outcome) => typeof outcome !== "string")
        assert.equal(won.length, 1)
        assert.deepEqual(
          outcomes.filter((outcome) => typeof outcome === "string"),
          ["conflict", "conflict", "conflict"],
        )
        head = won[0] as Head
      }
    },
  )
}

// LATIN1 lacks most characters, and EUC_JP gives U+00A6 back as U+FFE4.
for (const encoding of ["LATIN1", "EUC_JP"]) {
  withSession(`in a database with the encoding ${encoding} every character comes back`, async (o) => {
    const database = `${o.schema}_${encoding.toLowerCase()}`
    await admin.query(
      `CREATE DATABASE ${database} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
    try {
      const address = new URL(url)
      address.pathname = `/${database}`
      const pool = createPool({ connectionString: address.href })
      const storage = createPostgresStorage({ client: pool, schema: o.schema })
      const head = await storage.append("a", ["\u00A6"], { expect: 0 })
      assert.deepEqual(await linesOf(storage), ["\u00A6"])
      await storage.append("a", ["\u{1F600}"], { expect: head })
      assert.deepEqual(await linesOf(storage), ["\u00A6", "\u{1F600}"])
      await pool.end()
    } finally {
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`)
    }
  })
}

withSession("tables of a newer version are `unsupported`", async (o) => {
  await admin.query(`UPDATE ${o.schema}.meta SET version = 99`)
  await rejects("unsupported", /version 99.*update/, o.open().head("a"))
})

withSession(
  "a role without a right is told which one it lacks, and with the documented rights can do everything",
  async (o) => {
    const role = `${o.schema}_app`
    const as = (): PostgresStorage => o.open({ connectionString: urlFor(role) })
    try {
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`)
      await rejects("misconfigured", /USAGE on schema/, as().head("a"))
      await admin.query(
        `GRANT USAGE ON SCHEMA ${o.schema} TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA ${o.schema} TO ${role}`,
      )
      assert.equal((await as().head("a"))?.next, 1)
      await rejects(
        "misconfigured",
        /lacks.*INSERT on .*session.*INSERT on .*batch/,
        as().append("a", ["x"], { expect: o.head }),
      )
      await admin.query(
        `GRANT INSERT, UPDATE, DELETE ON ${["session", "batch", "doc", "blob"].map((name) => `${o.schema}.${name}`).join()} TO ${role}`,
      )
      const app = as()
      const head = await app.append("a", ["second"], { expect: o.head })
      await app.replace("a", lines(["new"]), { expect: head })
      const version = await app.docs.put("sessions/a/x", "1", { expect: null })
      await app.docs.put("sessions/a/x", "2", { expect: version })
      const hash = await app.blobs.put(new Uint8Array(3))
      await app.blobs.put(new Uint8Array(3))
      assert.equal(await app.blobs.delete(hash), true)
      assert.equal((await app.delete("a")).bytes, 4)
    } finally {
      await admin.query(`DROP OWNED BY ${role}`)
      await admin.query(`DROP ROLE ${role}`)
    }
  },
)

withSession("a role with too many connections is `unavailable`, and works when one is free", async (o) => {
  const role = `${o.schema}_busy`
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'test' CONNECTION LIMIT 1; GRANT USAGE ON SCHEMA ${o.schema} TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA ${o.schema} TO ${role}`)
  try {
    const pool = createPool({ connectionString: urlFor(role) })
    const held = await pool.connect()
    const waiting = o.open({ connectionString: urlFor(role) })
    await rejects("unavailable", /too many connections.*smaller pool/, waiting.head("a"))
    held.release(true)
    await pool.end()
    // The server frees the connection a moment after the client has closed it.
    while ((await admin.query("SELECT 1 FROM pg_stat_activity WHERE usename = $1", [role])).rows.length > 0);
    assert.equal((await waiting.head("a"))?.next, 1)
  } finally {
    await admin.query(`DROP OWNED BY ${role}`)
    await admin.query(`DROP ROLE ${role}`)
  }
})

withSession("a durability that the server's settings do not keep is `unsupported`", async (o) => {
  const hasty = { options: "-c synchronous_commit=off" }
  await rejects("unsupported", /synchronous_commit is off/, o.open(hasty).head("a"))
  assert.equal((await o.open(hasty, { durability: "os" }).head("a"))?.next, 1)
  await rejects("unsupported", /name a standby/, o.open({}, { durability: "replicated" }).head("a"))
})

withSession("a server that cannot be reached is `unavailable`, and no message has the password", async (o) => {
  const away = o.open({ connectionString: "postgres://app:secret@127.0.0.1:1/app" })
  await rejects("unavailable", /ECONNREFUSED/, away.append("a", ["x"], { expect: o.head }))
  await away.head("a").catch((error: Error) => assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /secret/))
})

withSession("a delete beside appends leaves no line behind", async (o) => {
  const writer = o.open()
  for (let round = 0; round < 30; round++) {
    const id = `s${round}`
    let head = await writer.append(id, ["first"], { expect: 0 })
    const appending = (async () => {
      for (;;) head = await writer.append(id, ["more"], { expect: head })
    })()
    const ended = rejects("conflict", /no such session/, appending)
    await o.storage.delete(id)
    await ended
  }
  const { rows } = await admin.query(
    `SELECT 1 FROM ${o.schema}.batch WHERE log NOT IN (SELECT log FROM ${o.schema}.session)`,
  )
  assert.equal(rows.length, 0)
})

withSession("processes that start at the same time create the tables once", async (o) => {
  await admin.query(`DROP SCHEMA ${o.schema} CASCADE`)
  const heads = await Promise.all(Array.from({ length: 6 }, () => o.open().head("a")))
  assert.deepEqual(heads, Array(6).fill(undefined))
})

withSession("with the documented row level security a tenant sees and changes its own sessions alone", async (o) => {
  const { schema } = o
  const role = `${schema}_tenant`
  try {
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'test';
      GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.meta, ${schema}.session, ${schema}.batch, ${schema}.doc TO ${role};
      ALTER TABLE ${schema}.session ENABLE ROW LEVEL SECURITY;
      ALTER TABLE ${schema}.batch ENABLE ROW LEVEL SECURITY;
      ALTER TABLE ${schema}.doc ENABLE ROW LEVEL SECURITY;
      CREATE POLICY tenant ON ${schema}.session USING (starts_with(id, current_user || '.'));
      CREATE POLICY tenant ON ${schema}.batch USING (EXISTS (SELECT FROM ${schema}.session s WHERE s.log = batch.log))
        WITH CHECK (true);
      CREATE POLICY tenant ON ${schema}.doc USING (starts_with(session, current_user || '.'))`)
    const tenant = o.open({ connectionString: urlFor(role) })
    assert.equal(await tenant.head("a"), undefined)
    await assert.rejects(tenant.append("b", ["x"], { expect: 0 }), /row-level security/)
    await rejects("conflict", /no such session/, tenant.append("a", ["x"], { expect: o.head }))
    const own = `${role}.a`
    const head = await tenant.append(own, ["one"], { expect: 0 })
    const next = await tenant.append(own, ["two"], { expect: head })
    await tenant.docs.put(`sessions/${own}/x`, "1", { expect: null })
    await tenant.replace(own, lines(["new"]), { expect: next })
    const ids: string[] = []
    for await (const { id } of tenant.list()) ids.push(id)
    assert.deepEqual(ids, [own])
    assert.equal((await tenant.delete(own)).bytes, 4)
    const { rows } = await admin.query(`SELECT 1 FROM ${schema}.batch`)
    assert.equal(rows.length, 1)
  } finally {
    await admin.query(`DROP OWNED BY ${role}`)
    await admin.query(`DROP ROLE ${role}`)
  }
})

async function* lines(all: string[]): AsyncGenerator<{ from: number; lines: string[] }> {
  yield { from: 0, lines: all }
}

withSession("parsers of the application for the types of its pool change nothing that is read", async (o) => {
  const parsers: Record<number, (text: string) => unknown> = { 17: (text) => text.slice(2), 20: BigInt, 23: BigInt }
  const getTypeParser = (oid: number): ((text: string) => unknown) => parsers[oid] ?? ((text) => text)
  for (const options of [undefined, "-c bytea_output=escape"]) {
    const storage = o.open({ types: { getTypeParser }, ...(options !== undefined && { options }) })
    const head = await storage.head("a")
    await storage.append("a", ["more"], { expect: { next: head?.next ?? 0, log: head?.log ?? "" }, info: "told" })
    assert.equal((await storage.head("a"))?.info?.text, "told")
    const version = await storage.docs.put("note", "text", { expect: null })
    assert.equal((await storage.docs.get("note"))?.text, "text")
    await storage.docs.delete("note", { expect: version })
    const hash = await storage.blobs.put(new Uint8Array([0, 92, 255]))
    assert.deepEqual(await storage.blobs.get(hash), new Uint8Array([0, 92, 255]))
    for await (const row of storage.list()) assert.equal(row.id, "a")
  }
  assert.deepEqual(await linesOf(o.storage), ["first", "more", "more"])
})

withSession(
  "a pool that has ended is `closed`, and a pg.Client without connect() `invalid`, both at once",
  async (o) => {
    const pool = createPool()
    await pool.end()
    await rejects("closed", /has ended/, createPostgresStorage({ client: pool, schema: o.schema }).head("a"))
    const client = new Client({ connectionString: url })
    await rejects("invalid", /client\.connect\(\)/, createPostgresStorage({ client, schema: o.schema }).head("a"))
  },
)
