/**
 * The session API under load: connections that follow the events of sessions, and prompts at a steady rate, in front of a server in a process
 * of its own. Then looks whether the log and each connection have every acknowledged prompt once, and what the server's heap holds after the
 * load. The same lines written to the storage alone are measured beside it. Run:
 * `node --conditions=@sessions/source --import ./.tools/typescript.mjs packages/http/bench/load.ts [--seconds 60] [--rate 100] [--clients 1000] [--sessions 200] [--root FOLDER]`.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createSessions } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createSessionClient } from "../src/client.ts"
import { toNodeListener } from "../src/node.ts"
import { createSessionHandler } from "../src/server.ts"

const NUMBERS = { seconds: 60, rate: 100, clients: 1_000, sessions: 200 }
const TEXT = "What does this line do? ".repeat(20)
/** Seconds without any event after which the missing ones count as lost. */
const PATIENCE = 20
/** The prompt itself, and its answer. */
const MESSAGES_OF_A_PROMPT = 2
/** Until the server has closed what no connection needs. */
const SETTLING_MS = 2_000

/** What the server's process says of itself. */
interface Usage {
  /** Bytes after a collection: heap and buffers. */
  readonly held: number
  /** Seconds of the processor. */
  readonly cpu: number
}

if (process.send === undefined) await load(options())
else await serve(process.argv[2] ?? "")

function options(): typeof NUMBERS & { readonly root: string } {
  const string = { type: "string" } as const
  const { values } = parseArgs({
    options: { seconds: string, rate: string, clients: string, sessions: string, root: string },
  })
  const given = Object.keys(NUMBERS).map((name) => [
    name,
    Number(values[name as keyof typeof NUMBERS] ?? NUMBERS[name as keyof typeof NUMBERS]),
  ])
  if (given.some(([, value]) => !(Number.isSafeInteger(value) && Number(value) > 0))) {
    console.error(
      `${Object.keys(NUMBERS)
        .map((name) => `--${name}`)
        .join(", ")} take whole numbers from 1 on.`,
    )
    process.exit(2)
  }
  return { ...(Object.fromEntries(given) as typeof NUMBERS), root: values.root ?? tmpdir() }
}

/** The server: it answers each prompt with one message. */
async function serve(root: string): Promise<void> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const handler = createSessionHandler({
    authorize: () => "me",
    sessions: () => sessions,
    async run({ session, message }) {
      await session.append({ type: "message", message: { role: "assistant", content: message.text } })
    },
  })
  const server = createServer(toNodeListener(handler))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  process.on("message", (message) => {
    if (message === "usage") return void process.send?.(usage())
    server.closeAllConnections()
    void handler
      .close()
      .then(() => sessions.close())
      .then(() => process.exit(0))
  })
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return { held: heapUsed + external, cpu: (user + system) / 1e6 }
}

async function load({ seconds, rate, clients, sessions, root: parent }: ReturnType<typeof options>): Promise<void> {
  const root = mkdtempSync(join(parent, "sessions-load-"))
  const child = fork(new URL(import.meta.url), [root], { execArgv: [...process.execArgv, "--expose-gc"] })
  const [url] = (await once(child, "message")) as [string]
  const ask = async (): Promise<Usage> => {
    child.send("usage")
    return (await once(child, "message"))[0] as Usage
  }
  const client = createSessionClient({ url })
  const ids: string[] = []
  for (let n = 0; n < sessions; n++) ids.push((await client.create()).id)
  // One prompt each, so that what is made on first use is no growth.
  for (const id of ids) await client.prompt(id, { text: TEXT })
  await pause(SETTLING_MS)
  const first = await ask()

  /** Of each session: what its connections have to see. */
  const acknowledged = new Map<string, string[]>(ids.map((id) => [id, []]))
  const ends = new Map<string, number>()
  let lastEvent = performance.now()
  const stop = new AbortController()
  const seen: { readonly session: string; readonly messages: string[] }[] = []
  let connected = 0
  const following = Array.from({ length: clients }, async (_, n) => {
    const session = ids[n % sessions] as string
    const messages: string[] = []
    seen.push({ session, messages })
    for await (const { event, data } of client.events(session, { signal: stop.signal })) {
      lastEvent = performance.now()
      if (event === "state") connected++
      else if (event === "appended") messages.push(...data.entries.map((entry) => entry.id))
      else if (event === "turn_end" && n < sessions) ends.set(data.messageId, lastEvent)
    }
  })
  while (connected < clients) await pause(50)
  const before = await ask()

  const newId = createIds()
  const answered: number[] = []
  const turns = new Map<string, number>()
  const refused = new Map<string, number>()
  const begun = performance.now()
  const prompts: Promise<void>[] = []
  for (let n = 0; n < seconds * rate; n++) {
    const late = begun + (n * 1_000) / rate - performance.now()
    if (late > 0) await pause(late)
    const session = ids[n % sessions] as string
    const id = newId()
    const sent = performance.now()
    turns.set(id, sent)
    prompts.push(
      client.prompt(session, { id, text: TEXT }).then(
        () => {
          answered.push(performance.now() - sent)
          acknowledged.get(session)?.push(id)
        },
        (error: { readonly code?: string }) =>
          void refused.set(`${error.code}`, (refused.get(`${error.code}`) ?? 0) + 1),
      ),
    )
  }
  await Promise.all(prompts)
  const answeredAfter = performance.now() - begun
  const all = [...acknowledged.values()].flat()
  const isSeen = (): boolean =>
    seen.every(
      ({ session, messages }) => messages.length >= MESSAGES_OF_A_PROMPT * (acknowledged.get(session)?.length ?? 0),
    )
  while ((all.some((id) => !ends.has(id)) || !isSeen()) && performance.now() - lastEvent < PATIENCE * 1_000)
    await pause(50)
  const after = await ask()
  stop.abort()
  await Promise.all(following)
  await pause(SETTLING_MS)
  const idle = await ask()
  child.send("end")
  await once(child, "exit")

  const storage = createFileStorage({ root })
  let lost = 0
  let doubled = 0
  for (const [session, prompts] of acknowledged) {
    const stored = await idsIn(storage, session)
    for (const id of prompts) {
      const times = stored.filter((one) => one === id).length
      if (times === 0) lost++
      if (times > 1) doubled++
    }
    for (const { messages } of seen.filter((one) => one.session === session)) {
      const known = new Set(messages)
      lost += stored.slice(MESSAGES_OF_A_PROMPT).filter((id) => !known.has(id)).length
      doubled += messages.length - known.size
    }
  }
  const delays = all.map((id) => (ends.get(id) ?? Number.NaN) - (turns.get(id) ?? 0))
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(1)
  console.info(
    [
      `${clients} connections, ${rate} prompts a second over ${sessions} sessions for ${seconds} s`,
      `acknowledged ${all.length} in ${(answeredAfter / 1_000).toFixed(1)} s, refused ${JSON.stringify(Object.fromEntries(refused))}, lost ${lost}, doubled ${doubled}`,
      `ms to the 202: ${spread(answered)}; to the end of the turn: ${spread(delays)}`,
      `seconds of the server's processor: ${(after.cpu - before.cpu).toFixed(1)}; connections: ${(before.cpu - first.cpu).toFixed(1)}`,
      `MB held by the server: ${mb(first.held)} before, ${mb(before.held)} with the connections, ${mb(after.held)} after the load, ${mb(idle.held)} after the connections`,
      `the same lines on the storage alone: ${await alone(storage, ids, all.length)}`,
    ].join("\n"),
  )
  await storage[Symbol.asyncDispose]()
  rmSync(root, { recursive: true })
  process.exitCode = lost + doubled === 0 && all.length === seconds * rate ? 0 : 1
}

async function idsIn(storage: SessionStorage, session: string): Promise<string[]> {
  const stored: string[] = []
  for await (const { lines } of storage.read(session)) {
    for (const line of lines) {
      const { id, type } = JSON.parse(line) as { readonly id: string; readonly type: string }
      if (type === "message") stored.push(id)
    }
  }
  return stored
}

/** Two appends for each prompt, of a message each, one after the other. */
async function alone(storage: SessionStorage, ids: readonly string[], prompts: number): Promise<string> {
  const heads = new Map<string, Head>()
  for (const id of ids) heads.set(id, (await storage.head(id)) as Head)
  const line = JSON.stringify({
    type: "message",
    id: "x".repeat(26),
    parentId: "x".repeat(26),
    message: { role: "user", content: [{ type: "text", text: TEXT }] },
  })
  const begun = performance.now()
  const cpu = process.cpuUsage()
  for (let n = 0; n < prompts; n++) {
    const id = ids[n % ids.length] as string
    for (let k = 0; k < MESSAGES_OF_A_PROMPT; k++)
      heads.set(id, await storage.append(id, [line], { expect: heads.get(id) as Head }))
  }
  const { user, system } = process.cpuUsage(cpu)
  const took = (performance.now() - begun) / 1_000
  return `${(prompts / took).toFixed(0)} prompts a second, ${((user + system) / 1e6).toFixed(1)} s of the processor`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

function spread(all: readonly number[]): string {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (part: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(0)
  return `median ${at(0.5)}, 95 % ${at(0.95)}, most ${at(1)}`
}
