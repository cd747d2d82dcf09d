import assert from "node:assert/strict"
import { test } from "node:test"
import { createSessions, type Session } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import { createDice } from "../../../core/test/dice.ts"
import { connectTo, startFaultProxy } from "./fault-proxy.ts"
import { createPool, url } from "./server.ts"

/** To run for two minutes: `POSTGRES_PROXY_SECONDS=120 npm test -- --only postgres:node`. */
const SECONDS = Number(process.env["POSTGRES_PROXY_SECONDS"] ?? (process.env["DEEP"] === undefined ? 4 : 120))
/** Entries that are acknowledged before it ends; on a busy machine it goes on for longer. */
const LEAST = 10
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

void test(`two clients write to one session for ${SECONDS} s through a proxy that cuts, delays and half-closes`, async (t) => {
  console.info(`SEED=${SEED}`)
  const schema = `proxy_${process.pid}`
  const admin = createPool()
  const storage = createPostgresStorage({ client: admin, schema })
  const direct = createSessions({ storage })
  t.after(async () => {
    await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await admin.end()
  })
  const { id } = await direct.create()
  const dice = createDice(SEED)
  const proxy = await startFaultProxy(
    () => connectTo(url),
    () => dice.next(),
  )
  // Its listener keeps the process alive.
  t.after(() => proxy.close())
  const through = new URL(url)
  through.searchParams.delete("host")
  through.hostname = "127.0.0.1"
  through.port = String(proxy.port)
  const pools = Array.from({ length: 2 }, () => createPool({ connectionString: through.href, max: 3 }))
  const clients = pools.map((client) => createSessions({ storage: createPostgresStorage({ client, schema }) }))
  const opened = await Promise.all(clients.map((sessions) => sessions.open(id)))
  proxy.setFaultRate(0.15)
  const end = performance.now() + SECONDS * 1_000
  const acknowledged: string[] = []
  const refused: string[] = []
  const unknown: string[] = []
  await Promise.all(opened.map((session, n) => writeUntil(session, `c${n}`, end, { acknowledged, refused, unknown })))
  proxy.setFaultRate(0)
  // Without faults every append with an unknown outcome can be resolved.
  for (const session of opened) await session.flush()

  const ids: string[] = []
  const names: string[] = []
  for await (const chunk of storage.read(id)) {
    for (const line of chunk.lines) {
      const entry = JSON.parse(line) as { id: string; message?: { content: { text: string }[] | string } }
      const content = entry.message?.content ?? ""
      ids.push(entry.id)
      names.push(typeof content === "string" ? content : (content[0]?.text ?? ""))
    }
  }
  const stored = new Set(ids)
  const violations = [
    ...acknowledged.filter((one) => !stored.has(one)).map((one) => `${one} was acknowledged but is not in the log`),
    ...(stored.size === ids.length ? [] : ["an entry is in the log twice"]),
    ...refused.filter((name) => names.includes(name)).map((name) => `${name} was refused but is in the log`),
  ]
  assert.deepEqual(violations, [])
  for (const sessions of [...clients, direct]) await sessions.close()
  await Promise.all(pools.map((pool) => pool.end()))
  const faults = Object.values(proxy.injected).reduce((sum, count) => sum + count, 0)
  const outcomes = `${acknowledged.length} acknowledged, ${refused.length} refused, ${unknown.length} indeterminate`
  console.info(`measured: ${outcomes}, ${faults} faults in ${SECONDS} s, 0 violations`)
})

async function writeUntil(
  session: Session,
  name: string,
  end: number,
  outcomes: { readonly acknowledged: string[]; readonly refused: string[]; readonly unknown: string[] },
): Promise<void> {
  for (let n = 0; performance.now() < end || outcomes.acknowledged.length < LEAST; n++) {
    const appends = Array.from({ length: 3 }, async (_, k) => {
      const text = `${name} ${n} ${k}`
      try {
        const { ids } = await session.append({ type: "message", message: { role: "user", content: text } })
        outcomes.acknowledged.push(...ids)
      } catch (error) {
        const isUnknown = (error as { code?: string }).code === "indeterminate"
        outcomes[isUnknown ? "unknown" : "refused"].push(text)
      }
    })
    await Promise.all(appends)
  }
}
