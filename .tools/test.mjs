// `npm test [-- --only STEP[,STEP…]] [vitest filters…]`: runs all tests of the repository on every installed runtime. `--list` prints the
// steps and runs nothing.
// Its last line is `N passed, N failed`; those before it name what failed. With CI=true a missing runtime is a failure.
import { availableParallelism } from "node:os"
import { install } from "./lib/install.mjs"
import { ending, report, total } from "./test/report.mjs"
import { runInLanes } from "./test/lanes.mjs"
import { select, steps } from "./test/steps.mjs"

/** On one core, two lanes would only mix the output of their steps. */
const LANES = Math.min(2, availableParallelism())

const { only, filters } = parse(process.argv.slice(2))
const selected = select(steps, only)
if (filters.includes("--list")) {
  console.log(selected.map((step) => step.name).join("\n"))
  process.exit(0)
}
if (selected.length === 0) {
  console.error(`There is no step ${only.join(", ")}. Steps: ${steps.map((step) => step.name).join(", ")}`)
  process.exit(2)
}

const outcomes = []
if (await install()) {
  const options = { filters, ci: process.env.CI === "true" }
  outcomes.push(...(await runInLanes(selected, LANES, (step) => report(step, options))))
} else {
  outcomes.push({ name: "installation", passed: 0, failed: 1, skipped: 0 })
}

process.exitCode = total(outcomes).failed > 0 ? 1 : 0
console.log(ending(outcomes))

function parse(args) {
  const only = []
  const filters = []
  for (let i = 0; i < args.length; i++) {
    if (args[i] === "--only") only.push(...(args[++i] ?? "").split(","))
    else filters.push(args[i])
  }
  return { only, filters }
}
