/** Kills the server, through the parent process, and then clients, during appends, and compares the log with what was acknowledged. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { createSessions, type Session } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import { createDice } from "../../../core/test/dice.ts"
import { createPool } from "../server/server.ts"

const { values } = parseArgs({
  options: { rounds: { type: "string" }, clients: { type: "string" }, seed: { type: "string" } },
})
const rounds = Number(values.rounds ?? 200)
const clients = Number(values.clients ?? 500)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
if (![rounds, clients].every((count) => Number.isSafeInteger(count) && count >= 0) || !Number.isSafeInteger(seed)) {
  console.error("--rounds, --clients and --seed take whole numbers.")
  process.exit(2)
}

const WRITER = fileURLToPath(new URL("../server/writer-process.ts", import.meta.url))
const TYPESCRIPT = new URL("../../../../.tools/typescript.mjs", import.meta.url).href
/** Writers at the same time. */
const LANES = 3
/** Kills of clients on one session, before its log is read. */
const KILLS_PER_SESSION = 25

const dice = createDice(seed)
const schema = "crash"
const pool = createPool()
const storage = createPostgresStorage({ client: pool, schema })
const sessions = createSessions({ storage })
const sum = { acknowledged: 0, lost: 0, doubled: 0, stored: 0 }
console.log(`seed ${seed}, ${rounds} kills of the server, ${clients} of clients`)

if (rounds > 0) await killServers()
await killClients()
await sessions.close()
await pool.end()
console.log(
  `acknowledged ${sum.acknowledged}, lost ${sum.lost}, doubled ${sum.doubled}, refused but stored ${sum.stored}`,
)
process.exit(sum.acknowledged > 0 && sum.lost + sum.doubled + sum.stored === 0 ? 0 : 1)

/** Writers that go on while the server is killed again and again. */
async function killServers(): Promise<void> {
  const { id } = await sessions.create()
  const pools = Array.from({ length: LANES }, () => createPool({ max: 3 }))
  const repositories = pools.map((client) => createSessions({ storage: createPostgresStorage({ client, schema }) }))
  const opened = await Promise.all(repositories.map((one) => one.open(id)))
  const end = new AbortController()
  const acknowledged: string[] = []
  const refused: string[] = []
  const writing = opened.flatMap((session, lane) =>
    Array.from({ length: 4 }, (_, n) => write(session, `w${lane}.${n}`, end.signal, acknowledged, refused)),
  )
  for (let round = 0; round < rounds; round++) {
    await pause(20 + dice.next() * 200)
    process.send?.("kill")
    await once(process, "message")
  }
  end.abort()
  await Promise.all(writing)
  // What was indeterminate is looked for.
  for (const session of opened) await session.flush()
  for (const one of repositories) await one.close()
  await Promise.all(pools.map((one) => one.end()))
  await check(id, acknowledged, refused)
}

async function write(
  session: Session,
  name: string,
  end: AbortSignal,
  acknowledged: string[],
  refused: string[],
): Promise<void> {
  for (let n = 0; !end.aborted; n++) {
    const text = `${name} ${n}`
    try {
      acknowledged.push(...(await session.append({ type: "message", message: { role: "user", content: text } })).ids)
    } catch (error) {
      if ((error as { code?: string }).code !== "indeterminate") refused.push(text)
      await pause(20)
    }
  }
}

/** Processes that are killed a moment after their first acknowledged append. */
async function killClients(): Promise<void> {
  for (let killed = 0; killed < clients; ) {
    const { id } = await sessions.create()
    const until = Math.min(clients, killed + KILLS_PER_SESSION)
    const acknowledged: string[] = []
    const lanes = Array.from({ length: LANES }, async () => {
      while (killed < until) acknowledged.push(...(await killOne(id, `c${killed++}`)))
    })
    await Promise.all(lanes)
    await check(id, acknowledged, [])
  }
}

async function killOne(id: string, name: string): Promise<string[]> {
  const flags = ["--conditions=@sessions/source", "--import", TYPESCRIPT]
  const writer = spawn(process.execPath, [...flags, WRITER, schema, id, name, "1000000", "8"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let output = ""
  let timer: ReturnType<typeof setTimeout> | undefined
  writer.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
    timer ??= setTimeout(() => writer.kill("SIGKILL"), dice.next() * 100)
  })
  await once(writer, "close")
  // The last line may be cut off.
  return output.split("\n").slice(0, -1)
}

async function check(id: string, acknowledged: readonly string[], refused: readonly string[]): Promise<void> {
  const stored: string[] = []
  const texts = new Set<string>()
  for await (const { lines } of storage.read(id)) {
    for (const line of lines) {
      const entry = JSON.parse(line) as { id: string; message?: { content: { text: string }[] | string } }
      const content = entry.message?.content ?? ""
      stored.push(entry.id)
      texts.add(typeof content === "string" ? content : (content[0]?.text ?? ""))
    }
  }
  const ids = new Set(stored)
  sum.acknowledged += acknowledged.length
  sum.lost += acknowledged.filter((one) => !ids.has(one)).length
  sum.doubled += stored.length - ids.size
  sum.stored += refused.filter((text) => texts.has(text)).length
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
