/** Looks for each planted fault. */
import { spawnSync } from "node:child_process"
import { FAULTS, MODEL_FAULTS } from "./faults.ts"
import { drawCase, judgeModels } from "./judge.ts"
import { addOutcome, brokenSums, createTotals, type Totals } from "./totals.ts"

/** Histories in which each fault of the library is found, and each of the rules: sums need many. */
const HISTORIES = 300
const MODEL_HISTORIES = 4_000

const plant = new URL("../../../../.tools/runtimes/fuzz/plant.ts", import.meta.url).href

export async function findPlanted(main: string, seed: number): Promise<number> {
  const missed = inLibrary(main, seed) + (await inModel(seed))
  console.log(`planted ${FAULTS.length + Object.keys(MODEL_FAULTS).length}, missed ${missed}`)
  return missed === 0 ? 0 : 1
}

/** In a process each, since a module is loaded once. */
function inLibrary(main: string, seed: number): number {
  let missed = 0
  for (const fault of FAULTS) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...process.execArgv, "--import", plant, main, "--histories", String(HISTORIES), "--seed", String(seed)],
      { env: { ...process.env, PLANTED: JSON.stringify(fault) }, encoding: "utf8" },
    )
    const line = stdout.split("\n").find((line) => line.startsWith(`${fault.law}: `))
    const found = status === 1 && line !== undefined
    if (!found) missed++
    console.log(
      found ? `found: ${fault.name}\n  ${line.slice(0, 200)}` : `not found: ${fault.name}\n${stdout}${stderr}`,
    )
  }
  return missed
}

/** The model without a fault keeps the laws; each fault breaks its own. */
async function inModel(first: number): Promise<number> {
  const faults = Object.entries(MODEL_FAULTS)
  const options = [{}, ...faults.map(([name]) => ({ [name]: true }))]
  const totals = options.map(createTotals)
  for (let seed = first; seed < first + MODEL_HISTORIES; seed++) {
    const { world, ops } = drawCase(seed)
    const outcomes = await judgeModels(world, ops, options)
    for (const [i, outcome] of outcomes.entries()) addOutcome(totals[i] as Totals, world, outcome)
  }
  const wrong = brokenBy(totals[0] as Totals)
  let missed = wrong.length
  if (wrong.length > 0) console.log(`the model without a fault: ${wrong.join("; ")}`)
  for (const [i, [name, law]] of faults.entries()) {
    const broken = brokenBy(totals[i + 1] as Totals)
    const line = broken.find((text) => text.startsWith(`${law}: `))
    if (line === undefined) missed++
    console.log(line === undefined ? `not found: ${name} (${broken.join("; ")})` : `found: ${name}\n  ${line}`)
  }
  return missed
}

function brokenBy(totals: Totals): string[] {
  const laws = [...totals.broken].map(([law, count]) => `${law}: broken in ${count} histories`)
  return [...laws, ...brokenSums(totals)]
}
