import assert from "node:assert/strict"
import { test } from "node:test"
import { createSessions, type Session } from "@sessions/core"
import { createDice } from "../../../core/test/dice.ts"
import { startFaultProxy } from "./fault-proxy.ts"
import { createClient, makeBucket, newPrefix, openAt, server } from "./test-server.ts"

/** To run for two minutes: `S3_PROXY_SECONDS=120 npm test -- --only s3:node`. */
const SECONDS = Number(process.env["S3_PROXY_SECONDS"] ?? (process.env["DEEP"] === undefined ? 4 : 120))
/** Entries that are acknowledged before it ends; on a busy machine it goes on for longer. */
const LEAST = 10
const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

void test(`two clients write to one session for ${SECONDS} s through a proxy that loses, delays and repeats requests`, async (t) => {
  console.info(`SEED=${SEED}`)
  await makeBucket()
  const prefix = newPrefix()
  const direct = createSessions({ storage: openAt(prefix) })
  const { id } = await direct.create()
  const dice = createDice(SEED)
  const proxy = await startFaultProxy(server.endpoint, () => dice.next())
  // Its listener keeps the process alive.
  t.after(() => proxy.close())
  const clients = Array.from({ length: 2 }, () => {
    const client = createClient({ endpoint: proxy.endpoint })
    return createSessions({ storage: openAt(prefix, { client, requestTimeout: 2_000, patience: 5_000 }) })
  })
  const opened = await Promise.all(clients.map((sessions) => sessions.open(id)))
  proxy.setFaultRate(0.25)
  const end = performance.now() + SECONDS * 1_000
  const acknowledged: string[] = []
  const refused: string[] = []
  await Promise.all(opened.map((session, n) => writeUntil(session, `c${n}`, end, acknowledged, refused)))
  proxy.setFaultRate(0)
  // Without faults every append with an unknown outcome can be resolved.
  for (const session of opened) await session.flush()

  const ids: string[] = []
  const names: string[] = []
  for await (const chunk of openAt(prefix).read(id)) {
    for (const line of chunk.lines) {
      const entry = JSON.parse(line) as { id: string; seq?: number; message?: { content: { text: string }[] } }
      ids.push(entry.id)
      names.push(entry.message?.content[0]?.text ?? "")
    }
  }
  const seqs = new Map(ids.map((one, seq) => [one, seq]))
  const violations = [
    ...acknowledged.filter((one) => !seqs.has(one)).map((one) => `${one} was acknowledged but is not in the log`),
    ...(seqs.size === ids.length ? [] : ["an entry is in the log twice"]),
    ...refused.filter((name) => names.includes(name)).map((name) => `${name} was refused but is in the log`),
  ]
  assert.deepEqual(violations, [])
  const faults = Object.values(proxy.injected).reduce((sum, count) => sum + count, 0)
  console.info(`measured: ${acknowledged.length} acknowledged, ${faults} faults in ${SECONDS} s, 0 violations`)
  await direct.close()
})

async function writeUntil(
  session: Session,
  name: string,
  end: number,
  acknowledged: string[],
  refused: string[],
): Promise<void> {
  for (let n = 0; performance.now() < end || acknowledged.length < LEAST; n++) {
    const appends = Array.from({ length: 3 }, async (_, k) => {
      const text = `${name} ${n} ${k}`
      try {
        const { ids } = await session.append({ type: "message", message: { role: "user", content: text } })
        acknowledged.push(...ids)
      } catch (error) {
        if ((error as { code?: string }).code !== "indeterminate") refused.push(text)
      }
    })
    await Promise.all(appends)
  }
}
