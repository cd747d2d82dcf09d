/** Looks for each planted fault, in a process each, since a module is loaded once. */
import { spawnSync } from "node:child_process"
import { FAULTS } from "./faults.ts"

/** Histories in which a fault of single requests is found, and those that sums need. */
const HISTORIES = 300

const plant = new URL("../../../../.tools/runtimes/fuzz/plant.ts", import.meta.url).href

export function findPlanted(main: string, seed: number): number {
  let missed = 0
  for (const fault of FAULTS) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...process.execArgv, "--import", plant, main, "--histories", String(HISTORIES), "--seed", String(seed)],
      { env: { ...process.env, PLANTED: JSON.stringify(fault) }, encoding: "utf8" },
    )
    const found = stdout.split("\n").find((line) => line.startsWith(`${fault.law}: `))
    if (status !== 1 || found === undefined) missed++
    console.log(
      found === undefined
        ? `not found: ${fault.name}\n${stdout}${stderr}`
        : `found: ${fault.name}\n  ${found.slice(0, 200)}`,
    )
  }
  console.log(`planted ${FAULTS.length}, missed ${missed}`)
  return missed === 0 ? 0 : 1
}
