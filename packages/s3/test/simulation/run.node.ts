// `pnpm test:s3-simulation --seeds N [--first-seed S]`: simulates N runs and prints their outcomes and violations.
import { parseArgs } from "node:util"
import { adapter } from "./designs.ts"
import { simulate } from "./simulate.ts"

const { values } = parseArgs({ options: { seeds: { type: "string" }, "first-seed": { type: "string" } } })
const seeds = Number(values.seeds ?? 1_000)
const first = Number(values["first-seed"] ?? 1)

/** Violations shown per seed: later ones usually follow from the first. */
const SHOWN = 3

let acknowledged = 0
let indeterminate = 0
let violations = 0
for (let seed = first; seed < first + seeds; seed++) {
  const outcome = await simulate(adapter, seed).catch((error: unknown) => ({
    acknowledged: 0,
    indeterminate: 0,
    violations: [String(error)],
  }))
  acknowledged += outcome.acknowledged
  indeterminate += outcome.indeterminate
  violations += outcome.violations.length
  for (const violation of outcome.violations.slice(0, SHOWN))
    console.log(`--first-seed ${seed} --seeds 1: ${violation}`)
}
console.log(`acknowledged ${acknowledged}, indeterminate ${indeterminate}, violations ${violations}`)
process.exitCode = violations > 0 ? 1 : 0
