/**
 * `main.ts [--rounds N] [--seed S]`: kills processes at random steps of `begin`, `track`, writes and `rewind`, then looks from another
 * process whether every changed file has its backup, no file is half written, and the repeated rewind completes. Ends with
 * `killed K of N rounds, without backup 0, half written 0`.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { type Plan, runChild } from "./child.ts"
import { look } from "./look.ts"
import { createDice } from "../../../core/test/dice.ts"

const options = { rounds: { type: "string" }, seed: { type: "string" }, child: { type: "string" } } as const
const { values } = parseArgs({ options })
const rounds = Number(values.rounds ?? 200)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}

/** A folder is used so often before a new one is begun. */
const ROUNDS_PER_PLACE = 8
/** About as many as a turn or a rewind has; in some rounds the process ends by itself. */
const STEPS = 130

if (values.child !== undefined) {
  const plan = JSON.parse(values.child) as Plan
  await runChild(plan, createDice(seed + plan.round))
} else await runRounds()

async function runRounds(): Promise<void> {
  const base = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-checkpoints-crash-"))
  console.log(`seed ${seed}, ${rounds} rounds`)
  let [killed, withoutBackup, halfWritten] = [0, 0, 0]
  let target: string | undefined
  let place = ""
  for (let round = 0; round < rounds; round++) {
    const random = createDice(seed + round * 7_919)
    if (round % ROUNDS_PER_PLACE === 0) {
      place = join(base, String(round))
      fs.mkdirSync(place)
      target = undefined
    }
    const rewindTo = target !== undefined && random.below(3) === 0 ? { rewindTo: target } : {}
    const plan: Plan = { place, round, killAt: random.below(STEPS), ...rewindTo }
    const args = [fileURLToPath(import.meta.url), "--seed", String(seed), "--child", JSON.stringify(plan)]
    const child = spawnSync(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "ignore", "pipe"] })
    if (child.signal === "SIGKILL") killed++
    else if (child.status !== 0) throw new Error(`${JSON.stringify(plan)}: ${String(child.stderr)}`)
    const found = await look(place, child.pid)
    withoutBackup += found.withoutBackup.length
    halfWritten += found.halfWritten.length
    for (const what of [...found.withoutBackup, ...found.halfWritten]) console.log(`${what}\n  ${JSON.stringify(plan)}`)
    target = found.target
  }
  console.log(`killed ${killed} of ${rounds} rounds, without backup ${withoutBackup}, half written ${halfWritten}`)
  const isGood = withoutBackup + halfWritten === 0
  // Kept to be looked at.
  if (isGood) fs.rmSync(base, { recursive: true })
  process.exitCode = isGood ? 0 : 1
}
