// `pnpm test:conformance [--adapter NAME] [--runtime NAME]`: runs the conformance suite for one adapter or all, on one runtime or all,
// each with its own test runner. Ends with `N passed, N failed, N skipped`. `--readme` writes the results into the matrix of conformance/README.md.
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { install } from "./lib/install.mjs"
import { conformanceCounts, matrixTable } from "./lib/matrix.mjs"
import { packages, root } from "./lib/workspace.mjs"
import { inReadme } from "./test/matrix.mjs"
import { report } from "./test/report.mjs"
import { steps } from "./test/steps.mjs"

const { values } = parseArgs({
  options: { adapter: { type: "string" }, runtime: { type: "string" }, readme: { type: "boolean", default: false } },
})
// Of some adapters the suite is in a deep test.
process.env.DEEP = "1"
const groups = ["conformance", "browser", "s3", "postgres"]
const suites = steps.filter(
  ({ name }) => groups.includes(name.split(":")[0]) && !["s3:simulation", "postgres:crash"].includes(name),
)
const wanted = suites.filter(({ name }) => values.runtime === undefined || name.endsWith(`:${values.runtime}`))
// An adapter has the name of its folder, the example in `adapter-NAME` that of its subject.
const folders = new Map(
  packages().map(({ dir }) => [basename(dir).replace(/^adapter-(.*)/, "$1-example"), basename(dir)]),
)
if (wanted.length === 0) refuse("runtime", values.runtime, [...new Set(suites.map(({ name }) => name.split(":")[1]))])
if (values.adapter !== undefined && !folders.has(values.adapter)) refuse("adapter", values.adapter, [...folders.keys()])

rmSync(join(root, ".reports"), { recursive: true, force: true })
let failed = (await install()) ? 0 : 1
const filters = values.adapter === undefined ? [] : [`/${folders.get(values.adapter)}/`]
for (const step of failed > 0 ? [] : wanted) {
  const outcome = await report(step, { filters, ci: process.env.CI === "true", deep: true, scale: 1, seed: 1 })
  failed += outcome.failed
}

const counts = conformanceCounts()
const shown = Object.entries(counts).filter(([name]) => values.adapter === undefined || name === values.adapter)
const sum = { passed: 0, failed: 0, skipped: 0 }
for (const [adapter, runtimes] of shown) {
  for (const [runtime, one] of Object.entries(runtimes)) {
    console.log(`${adapter.padEnd(14)} ${runtime.padEnd(10)} ${line(one)}`)
    for (const key of Object.keys(sum)) sum[key] += one[key]
  }
}
if (values.readme) {
  const readme = join(root, "conformance", "README.md")
  writeFileSync(readme, inReadme(readFileSync(readme, "utf8"), matrixTable(counts)))
}
process.exitCode = failed + sum.failed > 0 ? 1 : 0
console.log(line(sum))

function line({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

function refuse(what, name, names) {
  console.error(`There is no ${what} ${name}; choose from ${names.join(", ")}.`)
  process.exit(2)
}
