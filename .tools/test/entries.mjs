import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { absent, newestNode, olderNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { packages, root } from "../lib/workspace.mjs"
import { build } from "./build.mjs"
import { junitCounts } from "./junit.mjs"
import { outcomeOf } from "./report.mjs"

/** Ends a hang, so that its test is named; the runner of Deno has no limit. */
export const HANG_MS = 10 * 60_000

/** The command of each runtime's test runner for given files and report. */
export const commands = {
  node: (files, report) => [newestNode(), ["--test", `--test-timeout=${HANG_MS}`, ...nodeReporters(report), ...files]],
  // Without the option a test ends after five seconds.
  bun: (files, report) => [
    "bun",
    ["test", `--timeout=${HANG_MS}`, "--reporter=junit", `--reporter-outfile=${report}`, ...files],
  ],
  deno: (files, report) => [
    "deno",
    ["test", "-A", "--no-check", "--no-lock", "--cached-only", `--junit-path=${report}`, ...files],
  ],
}

/**
 * The entry files `test/NAME.<runtime>.ts` of all packages, run by the runtime's test runner. Unlike vitest, which uses the sources,
 * they use the built packages. In `npm test` Node leaves out the suites of storages that vitest runs on it from the sources.
 */
export function entries(runtime, absent, minutes) {
  return entriesStep(`conformance:${runtime}`, absent, minutes, ({ deep }) => ({
    files: entryFiles(`.${runtime}.ts`).filter((file) => deep || runtime !== "node" || !isSuiteOfVitest(file)),
    command: commands[runtime],
  }))
}

/** For older Nodes: the adapters that depend on the Node, and that every built package can be imported. */
const OLDER = [
  "packages/fs/test/conformance.node.ts",
  "packages/sqlite/test/conformance.node.ts",
  ".tools/runtimes/test/loads.node.ts",
]

export function olderEntries(major, absent, minutes) {
  // Node strips types since 22.18 only.
  const flags = ["--import", new URL("../typescript.mjs", import.meta.url).href]
  return entriesStep(`conformance:node${major}`, absent, minutes, () => ({
    files: OLDER.map((file) => join(root, file)),
    command: (files, report) => [olderNode(major), [...flags, "--test", ...nodeReporters(report), ...files]],
  }))
}

/** Tests in which processes of all runtimes share a folder. Node's runner runs them; their measurements are printed. */
export function processes(minutes) {
  const folder = join(root, ".tools", "runtimes", "processes")
  const reasons = async () => (await Promise.all([absent.node(), absent.bun(), absent.deno()])).find(Boolean)
  return entriesStep("processes", reasons, minutes, () => ({
    files: readdirSync(folder)
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(folder, name)),
    // One file at a time, since each starts many processes.
    command: (files, report) => [newestNode(), ["--test", "--test-concurrency=1", ...nodeReporters(report), ...files]],
  }))
}

/** `toRun` returns the files, the command for them, and a function for additional environment variables. */
export function entriesStep(name, absent, minutes, toRun) {
  return {
    name,
    absent,
    minutes,
    async run(options) {
      const built = await build()
      if (built.code !== 0) return outcomeOf(undefined, built)
      const report = join(root, ".reports", `entries-${name.replace("conformance:", "")}.xml`)
      mkdirSync(join(root, ".reports"), { recursive: true })
      rmSync(report, { force: true })
      const { files: all, command: toCommand, env } = await toRun(options)
      const files = all.filter((file) => options.filters.every((filter) => file.includes(filter)))
      if (files.length === 0) return { passed: 0, failed: 0, skipped: 0, output: "" }
      const [command, args] = toCommand(files, report)
      const result = await run(command, args, { env: { ...(await env?.()), ...(options.deep && { DEEP: "1" }) } })
      const counted = existsSync(report) ? junitCounts(readFileSync(report, "utf8")) : undefined
      return { ...outcomeOf(counted, result), measured: [...result.output.matchAll(/(?<=measured: ).*/g)].flat() }
    },
  }
}

/** The suite of a storage, `conformance.node.ts`, beside that of vitest, `conformance.test.ts`. */
function isSuiteOfVitest(file) {
  return basename(file) === "conformance.node.ts" && existsSync(join(dirname(file), "conformance.test.ts"))
}

function entryFiles(suffix) {
  return packages()
    .map(({ dir }) => join(dir, "test"))
    .filter((dir) => existsSync(dir))
    .flatMap((dir) => readdirSync(dir).map((name) => join(dir, name)))
    .filter((file) => file.endsWith(suffix))
}

export function nodeReporters(report) {
  return [
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-reporter=junit",
    `--test-reporter-destination=${report}`,
  ]
}
