/** What `pnpm bench` runs in a runtime, for some of the groups: ours beside the raw loop. The packages are measured as they are built. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Engine } from "../../.config/browsers/page.ts"
import { compactionScenarios } from "./compaction.ts"
import { appendScenarios } from "./files/append.ts"
import { curveScenarios } from "./files/curves.ts"
import { listScenarios } from "./files/list.ts"
import { replayScenarios } from "./files/replay.ts"
import { resumeScenarios } from "./files/resume.ts"
import { memoryScenarios } from "./memory.ts"
import { isOfSameMachine, merge, toJson } from "./merge.ts"
import type { Report } from "./merge.ts"
import { machine, table } from "./report.ts"
import type { Result, Scenario } from "./report.ts"

type Group = (quick: boolean) => readonly Scenario[] | Promise<readonly Scenario[]>

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: "string", default: "chromium" },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
  },
})

/** What only one group needs is loaded with it. */
const groups: Readonly<Record<string, Group>> = {
  append: (quick) => [...appendScenarios(quick), ...memoryScenarios(quick)],
  replay: replayScenarios,
  resume: resumeScenarios,
  list: listScenarios,
  compaction: compactionScenarios,
  curves: curveScenarios,
  peers: async (quick) => (await import("./peers/index.ts")).peerScenarios(quick),
  s3: async (quick) => (await import("./s3/index.ts")).s3Scenarios(quick),
  browser: async (quick) => (await import("./browser/index.ts")).browserScenarios(quick, values.engine as Engine),
}

// Asked to end, it ends what it has started, and removes what it has written.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const results: Result[] = []
for (const name of positionals) {
  for (const { id, run } of (await groups[name]?.(values.quick)) ?? []) {
    process.stderr.write(`${id} …\n`)
    try {
      const result = await run()
      results.push(values.quick ? { ...result, quick: true } : result)
    } catch (error) {
      process.stderr.write(`${id} failed: ${error instanceof Error ? error.stack : String(error)}\n`)
      process.exitCode = 1
    }
  }
  // After each group, so that what was measured is there whatever the next one meets.
  if (values.json !== undefined) save(values.json, { machine: machine(), results })
}
process.stdout.write(`${table(results)}\n`)

function save(file: string, report: Report): void {
  const older = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Report) : undefined
  if (older !== undefined && !isOfSameMachine(older, report)) {
    process.stderr.write(`${file} is of another machine and begun anew.\n`)
  }
  writeFileSync(file, toJson(merge(older, report)))
}
