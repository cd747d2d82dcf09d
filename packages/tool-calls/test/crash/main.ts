/**
 * `main.ts [--rounds N] [--seed S]`: in each round a process runs the calls of a turn in parallel, then two processes resume them at once, and
 * each is killed at a random step; the last one is not. A bank outside has a line for each charge. Ends with `killed K of N processes,
 * charged twice 0, told wrongly 0, unfinished 0`.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { createDice } from "../../../core/test/dice.ts"
import { createToolCalls } from "@sessions/tool-calls"
import { answer, question, TOOLS } from "../world.ts"
import { BLOCKS, chargesIn, openSessions, type Plan, runChild } from "./child.ts"

const options = { rounds: { type: "string" }, seed: { type: "string" }, child: { type: "string" } } as const
const { values } = parseArgs({ options })
const rounds = Number(values.rounds ?? 100)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(rounds) || rounds < 1 || !Number.isSafeInteger(seed)) {
  console.error("--rounds takes a whole number from 1 on, --seed a whole number.")
  process.exit(2)
}

/** About as many as the calls of a turn have; in some rounds a process ends by itself. */
const STEPS = 22
/** As many as a process that runs all the calls has at least. The first one of all dies within them, so that no run is without a crash. */
const SURE_STEPS = 8

if (values.child !== undefined) await runChild(JSON.parse(values.child) as Plan)
else await runRounds()

async function runRounds(): Promise<void> {
  const base = fs.mkdtempSync(join(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-calls-crash-"))
  console.log(`seed ${seed}, ${rounds} rounds`)
  let [killed, processes] = [0, 0]
  const wrong = { twice: 0, told: 0, unfinished: 0 }
  for (let round = 0; round < rounds; round++) {
    const random = createDice(seed + round * 7_919)
    const place = join(base, String(round))
    fs.mkdirSync(place)
    const common = { place, kind: round % 2 === 0 ? "files" : "sqlite", isAlone: false } as const
    await begin(common)
    const dies = (most = STEPS): number => random.below(most)
    const phases: readonly (readonly Plan[])[] = [
      [{ ...common, runs: true, killAt: dies(round === 0 ? SURE_STEPS : STEPS) }],
      [false, random.chance(0.5)].map((runs) => ({ ...common, runs, killAt: dies() })),
      [{ ...common, runs: false, isAlone: true, killAt: dies() }],
      [{ ...common, runs: false, isAlone: true, killAt: -1 }],
    ]
    for (const plans of phases) {
      const ended = await Promise.all(plans.map(start))
      processes += ended.length
      killed += ended.filter((signal) => signal === "SIGKILL").length
      wrong.told += await toldWrongly(common)
    }
    const charges = chargesIn(place)
    const states = await statesIn(common)
    for (const { id, name } of BLOCKS) {
      const times = charges.filter(({ callId }) => callId === id).length
      if (times > 1) wrong.twice++
      if (states.get(id) !== "done" || (name === "charge" && times === 0)) wrong.unfinished++
    }
    if (wrong.twice + wrong.told + wrong.unfinished > 0) {
      console.log(JSON.stringify({ phases, charges, states: [...states] }))
      break
    }
    fs.rmSync(place, { recursive: true })
  }
  const { twice, told, unfinished } = wrong
  console.log(
    `killed ${killed} of ${processes} processes, charged twice ${twice}, told wrongly ${told}, unfinished ${unfinished}`,
  )
  const isGood = twice + told + unfinished === 0
  // Kept to be looked at.
  if (isGood) fs.rmSync(base, { recursive: true })
  process.exitCode = isGood ? 0 : 1
}

async function begin(plan: Pick<Plan, "place" | "kind">): Promise<void> {
  const sessions = openSessions(plan)
  const session = await sessions.create({ id: "s" })
  await session.append([question(), createToolCalls(session, { tools: TOOLS }).record])
  await session.append(answer(...BLOCKS))
  await sessions.close()
}

async function statesIn(plan: Pick<Plan, "place" | "kind">): Promise<ReadonlyMap<string, string>> {
  const sessions = openSessions(plan)
  const states = await (await sessions.open("s")).callStates()
  await sessions.close()
  return new Map(states?.calls.map(({ callId, state }) => [callId, state]))
}

/** How many calls were charged, and are told as not started. */
async function toldWrongly(plan: Pick<Plan, "place" | "kind">): Promise<number> {
  const states = await statesIn(plan)
  return chargesIn(plan.place).filter(({ callId }) => states.get(callId) === "waiting").length
}

async function start(plan: Plan): Promise<NodeJS.Signals | null> {
  const args = [fileURLToPath(import.meta.url), "--child", JSON.stringify(plan)]
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "ignore", "pipe"] })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null]
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`${JSON.stringify(plan)}: ${errors}`)
  return signal
}
