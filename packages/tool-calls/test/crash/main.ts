/**
 * `main.ts [--rounds N] [--seed S] [--kinds files,s3] [--ways calls,agents] [--at-once N]`: in each round one process runs the turn of an agent, then two go on with it
 * at once, then one, and each kills or stops itself at a random step; those that were stopped continue behind others. The last process does neither. The receiver
 * of the calls is a folder of its own. Ends with `killed K and stopped S of N processes, charged C, twice 0, told wrongly 0, lost 0`.
 */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { bundle } from "../../../fs/test/crash/processes.ts"
import { KINDS, WAYS } from "./plan.ts"
import { runRound } from "./round.ts"
import { startServers } from "./servers.ts"

const string = { type: "string" } as const
const { values } = parseArgs({
  options: { rounds: string, seed: string, kinds: string, ways: string, "at-once": string },
})
const postgres = process.env["POSTGRES_TEST_SERVER"] ?? ""
const listed = <T extends string>(given: string | undefined, all: readonly T[]): readonly T[] =>
  given === undefined ? all : all.filter((one) => given.split(",").includes(one))
const kinds = listed(
  values.kinds,
  KINDS.filter((kind) => kind !== "postgres" || postgres !== ""),
)
const ways = listed(values.ways, WAYS)
const rounds = Number(values.rounds ?? 100)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const atOnce = Number(values["at-once"] ?? 4)
if (![rounds, atOnce].every((count) => Number.isSafeInteger(count) && count >= 1) || !Number.isSafeInteger(seed)) {
  console.error("--rounds and --at-once take a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}

const counts = { killed: 0, stopped: 0, processes: 0, charges: 0, twice: 0, told: 0, lost: 0 }
const perKind = new Map<string, number>()
console.log(`seed ${seed}, ${rounds} rounds on ${kinds.join(", ")} with ${ways.join(", ")}`)

const base = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-calls-crash-"))
const [program = ""] = await bundle(base, [new URL("child.ts", import.meta.url)])
// A process lives for milliseconds, most of which it would compile.
process.env["NODE_COMPILE_CACHE"] = join(base, "compiled")
const servers = await startServers(postgres)
let next = 0
await Promise.all(Array.from({ length: atOnce }, runRounds))
servers.close()
console.log(
  [...perKind]
    .map(([name, count]) => `${name} ${count}`)
    .toSorted()
    .join(", "),
)
const { killed, stopped, processes, charges, twice, told, lost } = counts
console.log(
  `killed ${killed} and stopped ${stopped} of ${processes} processes, charged ${charges}, twice ${twice}, told wrongly ${told}, lost ${lost}`,
)
const isGood = twice + told + lost === 0
// Kept to be looked at.
if (isGood) fs.rmSync(base, { recursive: true })
process.exit(isGood ? 0 : 1)

async function runRounds(): Promise<void> {
  while (next < rounds && counts.twice + counts.told + counts.lost === 0) {
    const round = next++
    const folder = join(base, String(round))
    fs.mkdirSync(folder)
    // Each storage with each way.
    const kind = pick(kinds, round)
    const way = pick(ways, Math.floor(round / kinds.length))
    const name = `${kind} ${way}`
    perKind.set(name, (perKind.get(name) ?? 0) + 1)
    const place = servers.placeFor(kind, folder, round)
    const wrong = await runRound({
      seed: seed + round * 7_919,
      way,
      place,
      folder,
      isFirst: round === 0,
      counts,
      program,
    })
    for (const text of wrong) {
      const kind = text.endsWith("charged twice") ? "twice" : text.startsWith("lost") ? "lost" : "told"
      counts[kind]++
      console.log(`--seed ${seed} --rounds ${round + 1}, round ${round} ${name}, in ${folder}: ${text}`)
    }
    if (wrong.length === 0) fs.rmSync(folder, { recursive: true })
  }
}

function pick<T>(all: readonly T[], n: number): T {
  return all[n % all.length] as T
}
