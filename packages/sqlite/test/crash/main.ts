/**
 * `main.ts [--rounds N] [--seed S]`: kills processes that write to one SQLite file at random moments, and looks in the file for what they had
 * acknowledged. In each round two processes, of two runtimes, append to one session. Ends with `acknowledged A, lost 0, doubled 0`.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { createSqliteStorage } from "@sessions/sqlite"
import { createDice } from "../../../core/test/dice.ts"
import { flagsOf } from "../../../../.config/program.ts"

const { values } = parseArgs({ options: { rounds: { type: "string", default: "30" }, seed: { type: "string" } } })
const rounds = Number(values.rounds)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}
console.log(`seed ${seed}, ${rounds} rounds`)
const dice = createDice(seed)

const WRITER = fileURLToPath(new URL("../writer-process.ts", import.meta.url))
/** The programs themselves: a kill of the script that starts one would not end it. */
const [bun, deno] = [
  whereIs("bun", "-e", "console.log(process.execPath)"),
  whereIs("deno", "eval", "console.log(Deno.execPath())"),
]
const RUNTIMES: readonly (readonly [command: string, ...args: string[]])[] = [
  [process.execPath, ...flagsOf("node")],
  [bun, ...flagsOf("bun")],
  [deno, ...flagsOf("deno")],
]
/** A session is used so often before the next one is begun: longer logs find nothing else, and take longer to read. */
const ROUNDS_PER_SESSION = 10

interface Writer {
  readonly name: string
  readonly process: ChildProcess
  /** The numbers of the lines that were acknowledged. */
  readonly acknowledged: number[]
  readonly ended: Promise<unknown>
}

// What is killed are processes, not machines, so a file in memory does as well as one on a disk.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-sqlite-crash-"))
const path = join(folder, "sessions.db")
const known = new Map<string, Writer[]>()
let acknowledged = 0
let lost = 0
let doubled = 0
let disordered = 0

for (let round = 0; round < rounds; round++) {
  const session = `s${Math.floor(round / ROUNDS_PER_SESSION)}`
  const writers = [start(session, round, 0), start(session, round, 1)]
  known.set(session, [...(known.get(session) ?? []), ...writers])
  await Promise.race(writers.map(({ process }) => once(process.stdout as NonNullable<typeof process.stdout>, "data")))
  await new Promise((resolve) => setTimeout(resolve, dice.next() * 200))
  for (const { process } of writers) process.kill("SIGKILL")
  await Promise.all(writers.map(({ ended }) => ended))
  for (const writer of writers) acknowledged += writer.acknowledged.length
  await verify(session, round)
}
console.log(`${2 * rounds} processes killed`)
console.log(`acknowledged ${acknowledged}, lost ${lost}, doubled ${doubled}`)
const isWhole = lost === 0 && doubled === 0 && disordered === 0 && acknowledged > 0
if (isWhole) rmSync(folder, { recursive: true })
process.exit(isWhole ? 0 : 1)

function whereIs(command: string, ...args: string[]): string {
  const text = execFileSync(command, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } })
  return text.trim()
}

function start(session: string, round: number, index: number): Writer {
  const [command, ...args] = RUNTIMES[(round + index) % RUNTIMES.length] as (typeof RUNTIMES)[number]
  const name = `${round}-${index}`
  const child = spawn(command, [...args, WRITER, path, session, name, "1000000"], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const numbers: number[] = []
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    numbers.push(...lines.map(Number))
  })
  return { name, process: child, acknowledged: numbers, ended: once(child, "close") }
}

/** Every acknowledged line is there once, nothing is there twice or out of its writer's order, and the list is newest first. */
async function verify(session: string, round: number): Promise<void> {
  const storage = createSqliteStorage({ path, durability: "os", lockTimeout: 60_000 })
  const found = new Map<string, number[]>()
  for await (const { lines } of storage.read(session)) {
    for (const line of lines) {
      const { name, n } = JSON.parse(line) as { name: string; n: number }
      const own = found.get(name) ?? []
      own.push(n)
      found.set(name, own)
    }
  }
  const listed: { readonly id: string; readonly updatedAt: number }[] = []
  for await (const row of storage.list()) if (row.updatedAt !== undefined) listed.push(row)
  const newestFirst = [...listed].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  if (listed.some(({ id }, index) => id !== newestFirst[index]?.id)) {
    disordered++
    console.log(`round ${round}: listed ${listed.map(({ id, updatedAt }) => `${id} at ${updatedAt}`).join()}`)
  }
  await storage[Symbol.asyncDispose]()
  for (const writer of known.get(session) ?? []) {
    const own = found.get(writer.name) ?? []
    const missing = writer.acknowledged.filter((n) => own[n] !== n)
    const surplus = own.filter((n, index) => n !== index)
    if (missing.length + surplus.length === 0) continue
    lost += missing.length
    doubled += surplus.length
    console.log(
      `round ${round}, writer ${writer.name}: lost ${missing.join()}; doubled or out of order ${surplus.join()}`,
    )
  }
}
