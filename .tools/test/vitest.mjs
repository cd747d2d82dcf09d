import { existsSync, readFileSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"
import { vitestFailures } from "./failures.mjs"
import { outcomeOf } from "./report.mjs"

/** Vitest's program. */
export const program = join("node_modules", "vitest", "vitest.mjs")

/** The command of each runtime that runs vitest, so that the tests run in that runtime. */
const commands = {
  node: (args) => [newestNode(), [program, ...args]],
  // Bun's child processes don't speak the protocol of vitest's default pool.
  bun: (args) => ["bun", ["--bun", program, ...args, "--pool=threads"]],
  deno: (args) => ["deno", ["run", "-A", "--no-lock", "--cached-only", program, ...args]],
}

export function vitest(runtime, absent) {
  return {
    name: `vitest:${runtime}`,
    // It has a worker for each core.
    alone: true,
    absent,
    async run({ filters, env = {}, report = "vitest" }) {
      const file = join(root, ".reports", `${report}-${runtime}.json`)
      rmSync(file, { force: true })
      const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
      const [command, args] = commands[runtime]([
        "run",
        "--config",
        ".config/vitest.config.ts",
        ...reporters,
        ...filters,
      ])
      const result = await run(command, args, { env })
      return outcomeOf(countsOf(file), result)
    },
  }
}

const RUNS = 3_000

/** More runs of the write queue's simulation than each runtime makes: it has found bugs in one of 4,000 seeds. */
export function writeSimulation(absent) {
  return {
    name: "core:simulation",
    absent,
    async run() {
      const file = join(root, ".reports", "core-simulation.json")
      rmSync(file, { force: true })
      const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
      const test = "packages/core/src/write/simulation.test.ts"
      const args = [program, "run", "--config", ".config/vitest.config.ts", ...reporters, test]
      const result = await run(newestNode(), args, { env: { FC_RUNS: String(RUNS) } })
      const seed = /SEED=\d+/.exec(result.output)?.[0] ?? "no seed"
      return { ...outcomeOf(countsOf(file), result), measured: [`${RUNS} runs from ${seed}`] }
    },
  }
}

/** The counts and the failures of the JSON report of a run; undefined if there is none. */
export function countsOf(file) {
  if (!existsSync(file)) return undefined
  const report = JSON.parse(readFileSync(file, "utf8"))
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: vitestFailures(report, (file) => relative(root, file)),
  }
}
