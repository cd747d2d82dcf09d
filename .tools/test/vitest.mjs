import { existsSync, readFileSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import {
  isDeep,
  isTooSlow,
  startingPrograms,
  testFiles,
  touchingRuntimes,
  withLaws,
  withoutSuite,
} from "../lib/test-files.mjs"
import { root } from "../lib/workspace.mjs"
import { vitestFailures } from "./failures.mjs"
import { outcomeOf } from "./report.mjs"
import { build } from "./build.mjs"

/** Vitest's program. */
export const program = join("node_modules", "vitest", "vitest.mjs")

const LONGEST_MS = 3 * 60 * 60_000

/** The command of each runtime that runs vitest, so that the tests run in that runtime. */
const commands = {
  node: (args) => [newestNode(), [program, ...args]],
  // Bun's child processes don't speak the protocol of vitest's default pool.
  bun: (args) => ["bun", ["--bun", program, ...args, "--pool=threads"]],
  deno: (args) => ["deno", ["run", "-A", "--no-lock", "--cached-only", program, ...args]],
}

/** The tests that need no browser. In `npm test` without the deep ones, and on Bun and Deno those alone that use an API of the runtime. */
export function vitest(runtime, absent, minutes) {
  return {
    name: `vitest:${runtime}`,
    // It has a worker for each core. Of the other runtimes `npm test` runs few files, of which the slowest wait.
    alone: runtime === "node",
    absent,
    minutes,
    async run({ filters, deep, env = {}, report = "vitest" }) {
      const built = await build()
      if (built.code !== 0) return outcomeOf(undefined, built)
      const some = deep || runtime === "node" || filters.length > 0 ? filters : filesFor(runtime)
      const outcome = await runVitest(runtime, `${report}-${runtime}`, some, { ...env, ...(deep && { DEEP: "1" }) })
      return deep ? withoutSlowTests(outcome) : outcome
    },
  }
}

/** All property tests with as many runs each as a deep run makes, at least so many that each case that a law counts occurs. */
export function laws(absent, minutes) {
  const runs = 2_000
  const least = 500
  return {
    name: "laws",
    alone: true,
    absent,
    minutes,
    isSearch: true,
    async run({ scale }) {
      const env = { DEEP: "1", FC_RUNS: String(Math.max(least, Math.round(runs * scale))) }
      const outcome = await runVitest("node", "laws", withLaws(testFiles()), env)
      return { ...outcome, measured: [`${env.FC_RUNS} runs a law`] }
    },
  }
}

async function runVitest(runtime, report, files, env) {
  const file = join(root, ".reports", `${report}.json`)
  rmSync(file, { force: true })
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
  const args = ["run", "--config", ".config/vitest.config.ts", ...reporters, ...files]
  const [command, all] = commands[runtime](args)
  const result = await run(command, all, { env, timeout: LONGEST_MS })
  return outcomeOf(countsOf(file), result)
}

/** Fails if a test that `npm test` runs takes too long, also alone, since other processes make it slower. */
async function withoutSlowTests(outcome) {
  const slow = (tests = []) => tests.filter((test) => test.isTooSlow)
  const files = new Set(slow(outcome.tests).map(({ name }) => name.split(" > ", 1)[0]))
  const found = []
  for (const file of files) found.push(...slow((await runVitest("node", "slow", [file], {})).tests))
  const lines = found.map(
    ({ name, cpu }) => `${name}: ${cpu} s of CPU; move it to a .deep file, or say why not in a comment // Slow: …`,
  )
  const { failed, failures = [], output } = outcome
  return {
    ...outcome,
    failed: failed + lines.length,
    failures: [...failures, ...lines],
    output: [output, ...lines].join("\n"),
  }
}

/**
 * The files that `npm test` runs on Bun or Deno: not the suites of the contract, which the runtime's own test runner runs on the built packages. Of the
 * command those that start it, on Bun: the others call it within a test, and on Deno they are left to the deep run.
 */
function filesFor(runtime) {
  const files = withoutSuite(testFiles().filter((file) => !isDeep(file)))
  const isOfCommand = (file) => file.startsWith("packages/cli/")
  return [
    ...touchingRuntimes(files.filter((file) => !isOfCommand(file))),
    ...(runtime === "bun" ? startingPrograms(files.filter((file) => isOfCommand(file))) : []),
  ]
}

/** The counts, the failures and the tests of the JSON report of a run; undefined if there is none. */
export function countsOf(file) {
  if (!existsSync(file)) return undefined
  const report = JSON.parse(readFileSync(file, "utf8"))
  const shorten = (path) => relative(root, path)
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: vitestFailures(report, shorten),
    tests: vitestTests(report, shorten),
  }
}

/** Each test with its seconds, those of CPU where they were measured (`.config/cpu.ts`). */
function vitestTests({ testResults }, relative) {
  return testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration = 0, meta = {} }) => ({
      name: `${relative(name)} > ${fullName}`,
      seconds: duration / 1_000,
      cpu: meta.cpu,
      isTooSlow: isTooSlow(relative(name), meta.cpu ?? 0),
    })),
  )
}
