/**
 * Runs the benchmarks of some groups in the runtime that runs this file, on the packages as built. `--only ID` runs one row, `--list`
 * prints the ids of the rows.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Engine } from "../../.config/browsers/page.ts"
import { isOfSameMachine, merge, type Report, toJson } from "./merge.ts"
import { machine, type Result, type Scenario, table } from "./report.ts"

type Group = (quick: boolean) => Promise<readonly Scenario[]>

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: "string", default: "chromium" },
    json: { type: "string" },
    list: { type: "boolean", default: false },
    only: { type: "string" },
    quick: { type: "boolean", default: false },
  },
})

/** Each group loads what it uses when it runs. */
const groups: Readonly<Record<string, Group>> = {
  append: async (quick) => [
    ...(await import("./files/append.ts")).appendScenarios(quick),
    ...(await import("./files/repeat.ts")).repeatScenarios(quick),
    ...(await import("./memory.ts")).memoryScenarios(quick),
  ],
  replay: async (quick) => (await import("./files/replay.ts")).replayScenarios(quick),
  resume: async (quick) => (await import("./files/resume.ts")).resumeScenarios(quick),
  stalls: async (quick) => (await import("./files/stalls.ts")).stallScenarios(quick),
  list: async (quick) => (await import("./files/list.ts")).listScenarios(quick),
  checkpoints: async (quick) => (await import("./files/checkpoints.ts")).checkpointsScenarios(quick),
  search: async (quick) => (await import("./search/index.ts")).searchScenarios(quick),
  history: async (quick) => (await import("./sqlite/history.ts")).historyScenarios(quick),
  compaction: async (quick) => (await import("./compaction.ts")).compactionScenarios(quick),
  formats: async (quick) => (await import("./formats.ts")).formatScenarios(quick),
  growth: async (quick) => (await import("./growth/index.ts")).growthScenarios(quick),
  curves: async (quick) => (await import("./files/curves.ts")).curveScenarios(quick),
  peers: async (quick) => (await import("./peers/index.ts")).peerScenarios(quick),
  s3: async (quick) => (await import("./s3/index.ts")).s3Scenarios(quick),
  sqlite: async (quick) => (await import("./sqlite/index.ts")).sqliteScenarios(quick),
  postgres: async (quick) => (await import("./postgres/index.ts")).postgresScenarios(quick),
  browser: async (quick) => (await import("./browser/index.ts")).browserScenarios(quick, values.engine as Engine),
}

// An exit by signal still runs the exit listeners, which stop children and remove folders.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const results: Result[] = []
for (const name of positionals) {
  for (const { id, run } of (await groups[name]?.(values.quick)) ?? []) {
    if (values.list) console.log(id)
    if (values.list || (values.only !== undefined && values.only !== id)) continue
    process.stderr.write(`${id} …\n`)
    try {
      const result = await run()
      results.push(values.quick ? { ...result, quick: true } : result)
    } catch (error) {
      process.stderr.write(`${id} failed: ${error instanceof Error ? error.stack : String(error)}\n`)
      process.exitCode = 1
    }
  }
  // After each group, so that a failure in the next one loses nothing.
  if (values.json !== undefined) save(values.json, { machine: machine(), results })
}
if (!values.list) process.stdout.write(`${table(results)}\n`)

function save(file: string, report: Report): void {
  const older = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Report) : undefined
  if (older !== undefined && !isOfSameMachine(older, report)) {
    process.stderr.write(`${file} is from another machine; its results are dropped.\n`)
  }
  writeFileSync(file, toJson(merge(older, report)))
}
