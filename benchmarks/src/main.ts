/** `pnpm bench [append|resume] [--json FILE] [--quick]`: ours beside the raw loop, in one process and run. */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { appendScenarios } from "./append.ts"
import { machine, table } from "./report.ts"
import type { Result, Scenario } from "./report.ts"
import { resumeScenarios } from "./resume.ts"

const groups: Readonly<Record<string, (quick: boolean) => readonly Scenario[]>> = {
  append: appendScenarios,
  resume: resumeScenarios,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "string" }, quick: { type: "boolean", default: false } },
})
const wanted = positionals.length === 0 ? Object.keys(groups) : positionals
const unknown = wanted.filter((name) => groups[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`bench: there is no ${unknown.join(", ")}; choose from ${Object.keys(groups).join(", ")}\n`)
  process.exit(2)
}
const results: Result[] = []
for (const name of wanted) {
  for (const scenario of groups[name]?.(values.quick) ?? []) {
    process.stderr.write(`${scenario.id} …\n`)
    results.push(await scenario.run())
  }
}
process.stdout.write(`${table(results)}\n`)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ machine: machine(), results }, null, 2)}\n`)
