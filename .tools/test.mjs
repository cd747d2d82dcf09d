// `npm test [-- --only STEP[,STEP…]] [vitest filters…]`: runs what a change can break, in minutes. `npm run test:deep [-- --part N/M] [--minutes K]` runs
// everything on every runtime, for hours. `--list` prints the steps and runs nothing.
// The seed of all random cases is that of SEED, or a new one. The last line is `N passed, N failed`; those before it name what failed, with
// the command that repeats it. With CI=true a missing runtime is a failure.
import { appendFileSync, mkdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { install } from "./lib/install.mjs"
import { root } from "./lib/workspace.mjs"
import { partOf, scaleFor } from "./test/deep.mjs"
import { ending, report, summary, total } from "./test/report.mjs"
import { runInLanes } from "./test/lanes.mjs"
import { select, steps } from "./test/steps.mjs"

/** Most steps wait for a server, a browser or a disk half of their time. */
const LANES = 2 * availableParallelism()

const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string", multiple: true, default: [] },
    list: { type: "boolean", default: false },
    deep: { type: "boolean", default: false },
    part: { type: "string", default: "1/1" },
    minutes: { type: "string", default: "Infinity" },
  },
})
const started = performance.now()
const deep = values.deep
const only = values.only.flatMap((names) => names.split(","))
const part = parsePart(values.part)
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const minutes = Number(values.minutes)
if (!Number.isSafeInteger(seed) || seed < 0) refuse("SEED takes a whole number from 0 on.")
if (!(minutes > 0)) refuse("--minutes takes a number above 0.")
if (!deep && (values.part !== "1/1" || minutes !== Infinity)) refuse("--part and --minutes are of npm run test:deep.")

// A step that is named runs, also if `npm test` leaves it out.
const known = deep || only.length > 0 ? steps : steps.filter(({ isDeep }) => !isDeep)
const selected = partOf(select(known, only), part)
if (selected.length === 0)
  refuse(`There is no step ${only.join(", ")}. Steps: ${steps.map(({ name }) => name).join(", ")}`)
if (values.list) {
  console.log(selected.map(({ name }) => name).join("\n"))
  process.exit(0)
}

const repeat = ["npm", ...(deep ? ["run", "test:deep"] : ["test"])].join(" ")
const again = [
  ...(deep ? ["--part", values.part, ...(minutes === Infinity ? [] : ["--minutes", minutes])] : []),
  ...filters,
]
console.log(`SEED=${seed}`)
process.env.SEED = String(seed)
const scale = scaleFor(selected, minutes)
if (scale < 1) console.log(`The searches make ${(100 * scale).toFixed(1)} % of their rounds.`)

const outcomes = []
if (await install()) {
  const options = { filters, ci: process.env.CI === "true", deep, scale, seed }
  outcomes.push(...(await runInLanes(selected, LANES, (step) => report(step, options))))
} else {
  outcomes.push({ name: "installation", passed: 0, failed: 1, skipped: 0 })
}

const { failed } = total(outcomes)
process.exitCode = failed > 0 ? 1 : 0
if (deep) keepSeed()
for (const line of summary(outcomes)) console.log(line)
const cpu = outcomes.reduce((sum, outcome) => sum + (outcome.cpu ?? 0), process.cpuUsage().user / 1e6)
console.log(
  `${((performance.now() - started) / 60_000).toFixed(1)} minutes, ${cpu.toFixed(0)} s of CPU time, SEED=${seed}`,
)
if (failed > 0)
  console.log(`Repeat it with: SEED=${seed} ${repeat} -- ${["--only", namesOfFailed(), ...again].join(" ")}`)
console.log(ending(outcomes))

function namesOfFailed() {
  return outcomes
    .filter((outcome) => outcome.failed > 0)
    .map(({ name }) => name)
    .join(",")
}

/** A deep run draws a new seed: what it found can be repeated later, also if its output is lost. */
function keepSeed() {
  mkdirSync(join(root, ".reports"), { recursive: true })
  const line = `${new Date().toISOString()} SEED=${seed} --part ${values.part} --minutes ${values.minutes}: ${failed} failed\n`
  appendFileSync(join(root, ".reports", "seeds.log"), line)
}

function parsePart(text) {
  const [, part, parts] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? []
  if (!(part >= 1 && part <= parts)) refuse("--part takes N/M, such as 1/4.")
  return { part, parts }
}

function refuse(problem) {
  console.error(problem)
  process.exit(2)
}
