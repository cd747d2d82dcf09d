/**
 * `pnpm test:fuzz [--minutes N | --rounds N] [--seed S]`: damages logs of every version on each storage, and calls everything. Each round
 * has the seed after the one before it; `--seed S --rounds 1` repeats one. With `--planted` it removes one check after the other from the
 * sources while they are loaded, and looks for each of these faults in at most 3,000 rounds. `--store postgres`, which
 * `pnpm test:fuzz-postgres` passes, is on a server.
 *
 * A finding is an error without a code, more steps of I/O than a log of that length may take, a log that reading changed, an export that
 * differs from the stored lines, or a line outside of the damage that a storage hides, gives at another seq, or refuses.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { FAULTS } from "./faults.ts"
import type { Outcome } from "./round.ts"

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    rounds: { type: "string" },
    seed: { type: "string" },
    first: { type: "boolean" },
    planted: { type: "boolean" },
    store: { type: "string" },
  },
})
const first = Number(values.seed ?? (values.planted === true ? 1 : Date.now() % 2 ** 31))
const minutes = Number(values.minutes ?? 0)
const rounds = Number(values.rounds ?? (values.minutes === undefined ? 1_000 : Number.POSITIVE_INFINITY))
const { store } = values
if (store !== undefined && store !== "postgres") {
  console.error("--store takes postgres.")
  process.exit(2)
}
if (!Number.isSafeInteger(first) || !(minutes >= 0) || !(rounds >= 1)) {
  console.error("--minutes and --rounds take a number, --seed a whole number.")
  process.exit(2)
}
/** Rounds in which each planted fault is found; the rarest one took 407. */
const LONGEST_SEARCH = 3_000

process.exitCode = values.planted === true ? findPlanted() : await fuzzAll()

async function fuzzAll(): Promise<number> {
  // Loaded after the arguments are known: the sources may be those with a fault.
  const { fuzz } = await import("./round.ts")
  /** Findings that are shown: one defect usually has many. */
  const shown = values.first === true ? 1 : 20
  const end = minutes === 0 ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  let done = 0
  let found = 0
  let most = 0
  console.log(`seed ${first}`)
  for (; done < rounds && Date.now() < end && !(values.first === true && found > 0); done++) {
    const seed = first + done
    const { name, findings, steps } = await fuzz(seed, store).catch(
      (error: unknown): Outcome => ({
        name: "the round",
        findings: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
        steps: 0,
      }),
    )
    most = Math.max(most, steps)
    for (const finding of findings) if (++found <= shown) console.log(`--seed ${seed} --rounds 1: ${name}: ${finding}`)
  }
  console.log(`rounds ${done}, findings ${found}, most steps ${Math.round(most * 100)} % of those allowed`)
  return found > 0 ? 1 : 0
}

/** In a process each, since a module is loaded once. */
function findPlanted(): number {
  const plant = new URL("./plant.ts", import.meta.url).href
  let missed = 0
  const faults = FAULTS.filter((fault) => fault.store === store)
  for (const fault of faults) {
    const { name } = fault
    const started = performance.now()
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        ...process.execArgv,
        "--import",
        plant,
        fileURLToPath(import.meta.url),
        "--first",
        "--rounds",
        String(LONGEST_SEARCH),
        "--seed",
        String(first),
        ...(store === undefined ? [] : ["--store", store]),
      ],
      { env: { ...process.env, PLANTED: JSON.stringify(fault) }, encoding: "utf8" },
    )
    const counts = /rounds (\d+), findings [1-9]/.exec(stdout)
    const isFound = status === 1 && counts !== null
    if (!isFound) missed++
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    console.log(
      isFound ? `found after ${counts[1]} rounds, ${seconds} s: ${name}` : `not found: ${name}\n${stdout}${stderr}`,
    )
    if (isFound) console.log(`  ${stdout.split("\n")[1]?.slice(0, 200)}`)
  }
  console.log(`planted ${faults.length}, missed ${missed}`)
  return missed > 0 ? 1 : 0
}
