/**
 * `pnpm bench [GROUP…] [--runtime node|bun|deno] [--json FILE] [--quick]`: ours beside the raw loop, in one run. The packages are
 * measured as they are built.
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { compactionScenarios } from "./compaction.ts"
import { appendScenarios } from "./files/append.ts"
import { curveScenarios } from "./files/curves.ts"
import { listScenarios } from "./files/list.ts"
import { replayScenarios } from "./files/replay.ts"
import { resumeScenarios } from "./files/resume.ts"
import { memoryScenarios } from "./memory.ts"
import { peerScenarios } from "./peers/index.ts"
import { machine, table } from "./report.ts"
import type { Result, Scenario } from "./report.ts"

const groups: Readonly<Record<string, (quick: boolean) => readonly Scenario[]>> = {
  append: (quick) => [...appendScenarios(quick), ...memoryScenarios(quick)],
  replay: replayScenarios,
  resume: resumeScenarios,
  list: listScenarios,
  compaction: compactionScenarios,
  curves: curveScenarios,
  peers: peerScenarios,
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
