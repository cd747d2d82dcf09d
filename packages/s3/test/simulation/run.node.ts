// `pnpm test:s3-simulation --seeds N [--first-seed S]`: simulates N runs and prints their outcomes and violations.
import { parseArgs } from "node:util"
import { adapter } from "./designs.ts"
import { adapter as objectAdapter } from "./object-designs.ts"
import { type Outcome, simulate } from "./simulate.ts"
import { simulateObjects } from "./simulate-objects.ts"

const { values } = parseArgs({ options: { seeds: { type: "string" }, "first-seed": { type: "string" } } })
const seeds = Number(values.seeds ?? 1_000)
const first = Number(values["first-seed"] ?? 1)

/** Violations shown per seed: later ones usually follow from the first. */
const SHOWN = 3

const runs: readonly (readonly [string, (seed: number) => Promise<Outcome>])[] = [
  ["appends", (seed) => simulate(adapter, seed)],
  ["documents and blobs", (seed) => simulateObjects(objectAdapter, seed)],
]

let failed = false
for (const [name, run] of runs) {
  let acknowledged = 0
  let indeterminate = 0
  let violations = 0
  for (let seed = first; seed < first + seeds; seed++) {
    const outcome = await run(seed).catch((error: unknown) => ({
      acknowledged: 0,
      indeterminate: 0,
      violations: [String(error)],
    }))
    acknowledged += outcome.acknowledged
    indeterminate += outcome.indeterminate
    violations += outcome.violations.length
    for (const violation of outcome.violations.slice(0, SHOWN))
      console.log(`${name}, --first-seed ${seed} --seeds 1: ${violation}`)
  }
  console.log(`${name}: acknowledged ${acknowledged}, indeterminate ${indeterminate}, violations ${violations}`)
  failed ||= violations > 0
}
process.exitCode = failed ? 1 : 0
