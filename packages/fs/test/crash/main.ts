/**
 * `main.ts [--rounds N] [--seed S]`: kills processes at random moments and at chosen steps, opens what they left in another runtime,
 * and says whether anything that was acknowledged is missing. Ends with `acknowledged A, lost 0, corrupt 0`.
 */
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { EMPTY, type Model } from "./model.ts"
import { bundle, findRuntimes, type Runtime, start, type Worker } from "./processes.ts"
import { createDice } from "../../../core/test/dice.ts"
import { type Outcome, runRound } from "./round.ts"

const { values } = parseArgs({ options: { rounds: { type: "string" }, seed: { type: "string" } } })
const rounds = Number(values.rounds ?? 200)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}

/** Two rounds at once: while one looks, the other one crashes. */
const LANES = 2
/** A folder is used so often before a new one is begun: longer logs find nothing else, and take longer to read. */
const ROUNDS_PER_ROOT = 6

// What is killed are processes, not machines, so files in memory do as well as those on a disk.
const place = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-crash-"))
const [childProgram = "", verifierProgram = ""] = await bundle(place, [
  new URL("child.ts", import.meta.url),
  new URL("verifier.ts", import.meta.url),
])
const runtimes = findRuntimes()
console.log(`seed ${seed}, ${rounds} rounds on ${runtimes.map(({ name }) => name).join(", ")}`)

const outcomes: Outcome[] = []
let failures = 0
await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)))
report()

async function runLane(lane: number): Promise<void> {
  const verifiers = new Map<Runtime, Worker>()
  const verifierOn = (runtime: Runtime): Worker => {
    const known = verifiers.get(runtime)
    if (known !== undefined && known.process.exitCode === null && known.process.signalCode === null) return known
    const verifier = start(runtime, verifierProgram)
    verifiers.set(runtime, verifier)
    return verifier
  }
  let root = ""
  let model: Model | undefined
  // The next process is started while the one before is at work.
  let next = lane < rounds ? start(runtimeOf(lane), childProgram) : undefined
  for (let round = lane, n = 0; round < rounds; round += LANES, n++) {
    const child = next as Worker
    next = round + LANES < rounds ? start(runtimeOf(round + LANES), childProgram) : undefined
    if (n % ROUNDS_PER_ROOT === 0 || model === undefined) {
      if (model !== undefined) fs.rmSync(root, { recursive: true })
      root = join(place, `${lane}-${n}`)
      model = EMPTY
    }
    const verifier = verifierOn(lookerOf(round))
    const random = createDice(seed + round * 7_919)
    const outcome = await runRound({ root, round, random, model, child, verifier })
    outcomes.push(outcome)
    model = outcome.model
    if (outcome.lost === 0 && outcome.corrupt.length === 0) continue
    tell(outcome, child.runtime, verifier.runtime)
    // Kept to be looked at.
    model = undefined
  }
  for (const verifier of verifiers.values()) verifier.process.kill("SIGKILL")
}

/** In turn, and each looked at by each of the others in turn. */
function runtimeOf(round: number): Runtime {
  return runtimes[round % runtimes.length] as Runtime
}

function lookerOf(round: number): Runtime {
  const others = Math.max(1, runtimes.length - 1)
  const turn = runtimes.length > 1 ? 1 + (Math.floor(round / runtimes.length) % others) : 0
  return runtimes[(round + turn) % runtimes.length] as Runtime
}

function tell({ plan, lost, corrupt }: Outcome, writer: Runtime, looker: Runtime): void {
  failures++
  console.log(`round ${plan.round}: written by ${writer.name}, read by ${looker.name}; lost ${lost}`)
  for (const what of corrupt) console.log(`  ${what.slice(0, 1_000)}`)
  console.log(`  ${JSON.stringify(plan)}`)
}

function report(): void {
  const sum = (count: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + count(one), 0)
  const lost = sum((one) => one.lost)
  const corrupt = sum((one) => one.corrupt.length)
  console.log(`${sum((one) => (one.killed ? 1 : 0))} of ${outcomes.length} rounds ended with a kill`)
  console.log(`acknowledged ${sum((one) => one.acknowledged)}, lost ${lost}, corrupt ${corrupt}`)
  if (failures === 0) fs.rmSync(place, { recursive: true })
  process.exit(failures === 0 ? 0 : 1)
}
