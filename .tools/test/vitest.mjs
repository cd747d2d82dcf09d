import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"
import { outcomeOf } from "./report.mjs"

/** Vitest, for a runtime to run. */
export const program = join("node_modules", "vitest", "vitest.mjs")

/** How each runtime runs vitest itself, so that tests and what they test run in it too. */
const commands = {
  node: (args) => [newestNode(), [program, ...args]],
  // Bun's child processes don't speak the protocol of vitest's default pool.
  bun: (args) => ["bun", ["--bun", program, ...args, "--pool=threads"]],
  deno: (args) => ["deno", ["run", "-A", "--no-lock", "--cached-only", program, ...args]],
}

export function vitest(runtime, absent) {
  return {
    name: `vitest:${runtime}`,
    absent,
    async run({ filters }) {
      const file = join(root, ".reports", `vitest-${runtime}.json`)
      rmSync(file, { force: true })
      const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
      const [command, args] = commands[runtime]([
        "run",
        "--config",
        ".config/vitest.config.ts",
        ...reporters,
        ...filters,
      ])
      const result = await run(command, args)
      return outcomeOf(countsOf(file), result)
    },
  }
}

/** What the JSON report of a run counts; undefined where it left none. */
export function countsOf(file) {
  if (!existsSync(file)) return undefined
  const report = JSON.parse(readFileSync(file, "utf8"))
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}
