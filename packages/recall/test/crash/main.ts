/**
 * `main.ts [--rounds N] [--seed S]`: in each round two processes extract and consolidate one memory at once, in a folder or in documents,
 * and at least one is killed at a random step. Then looks from another process whether every acknowledged fact is there once, each file is
 * whole, and the repeated calls finish. Ends with `killed K of N processes, lost 0, damaged 0`.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { runChild } from "./child.ts"
import { look } from "./look.ts"
import { createDice } from "../../../core/test/dice.ts"
import { BY_HAND, INDEX, openWorld, type Plan } from "./world.ts"

const options = { rounds: { type: "string" }, seed: { type: "string" }, child: { type: "string" } } as const
const { values } = parseArgs({ options })
const rounds = Number(values.rounds ?? 100)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}

/** A memory is used so often before a new one is begun. */
const ROUNDS_PER_PLACE = 6
/** About as many as an extraction and a consolidation have; in some rounds a process ends by itself. */
const STEPS = { folder: 260, documents: 60 }

if (values.child !== undefined) await runChild(JSON.parse(values.child) as Plan)
else await runRounds()

async function runRounds(): Promise<void> {
  const base = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-recall-crash-"))
  console.log(`seed ${seed}, ${rounds} rounds`)
  let [killed, processes, lost, damaged] = [0, 0, 0, 0]
  let place = ""
  for (let round = 0; round < rounds; round++) {
    const random = createDice(seed + round * 7_919)
    const kind = Math.floor(round / ROUNDS_PER_PLACE) % 2 === 0 ? "folder" : "documents"
    const plan = { place, kind, round, name: "", killAt: -1 } as const
    if (round % ROUNDS_PER_PLACE === 0) {
      place = join(base, String(round))
      fs.mkdirSync(place)
      const { files, sessions } = await openWorld({ ...plan, place, name: "first" }, () => undefined)
      await files.write(INDEX, BY_HAND, { expect: null })
      await sessions.close()
    }
    const names = [`a${round}`, `b${round}`]
    const plans = names.map((name, i): Plan => {
      const killAt = i === 0 || random.below(2) === 0 ? random.below(STEPS[kind]) : -1
      return { ...plan, place, name, killAt }
    })
    const ended = await Promise.all(start(plans))
    processes += ended.length
    killed += ended.filter((signal) => signal === "SIGKILL").length
    const found = await look({ ...plan, place }, names)
    lost += found.lost.length
    damaged += found.damaged.length
    for (const what of [...found.lost, ...found.damaged]) console.log(`${what}\n  ${JSON.stringify(plans)}`)
  }
  console.log(`killed ${killed} of ${processes} processes, lost ${lost}, damaged ${damaged}`)
  const isGood = lost + damaged === 0
  // Kept to be looked at.
  if (isGood) fs.rmSync(base, { recursive: true })
  process.exitCode = isGood ? 0 : 1
}

/** Starts the processes of a round, and lets them go when all of them are ready. Their signals, once they have ended. */
function start(plans: readonly Plan[]): readonly Promise<NodeJS.Signals | null>[] {
  const running = plans.map(async (plan) => {
    const args = [fileURLToPath(import.meta.url), "--child", JSON.stringify(plan)]
    const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "ignore", "pipe"] })
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
    if (signal !== "SIGKILL" && code !== 0) throw new Error(`${JSON.stringify(plan)}: ${errors}`)
    return signal
  })
  void letGo(plans)
  return running
}

async function letGo(plans: readonly Plan[]): Promise<void> {
  const isReady = ({ place, name, killAt }: Plan): boolean =>
    killAt === 0 || fs.existsSync(join(place, `ready-${name}`))
  while (!plans.every(isReady)) await new Promise((resolve) => setTimeout(resolve, 1))
  const { place, round } = plans[0] as Plan
  fs.writeFileSync(join(place, `go-${round}`), "")
}
