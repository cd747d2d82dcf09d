import { absent, olderNodes } from "../lib/runtimes.mjs"
import { benchmarks } from "./benchmarks.mjs"
import { browser, browserCrash, page } from "./browsers.mjs"
import { buildCheck, packedChecks, scriptCheck } from "./checks.mjs"
import { checkpointsCrash, claudeAgentCrash, crash, httpCrash, recallCrash, sqliteCrash } from "./crash.mjs"
import { entries, olderEntries, processes } from "./entries.mjs"
import { browserAgent } from "./examples.mjs"
import { createAdapter } from "./create-adapter.mjs"
import { exam } from "./exam.mjs"
import { fuzz, fuzzPostgres } from "./fuzz.mjs"
import { linear, planted } from "./linear.mjs"
import { matrix } from "./matrix.mjs"
import { mutants } from "./mutants.mjs"
import { packedCli } from "./packed-cli.mjs"
import { packedDocs } from "./packed-docs.mjs"
import { packedExamples } from "./packed-examples.mjs"
import { onPostgres, postgresCrash } from "./postgres.mjs"
import { onServer, simulation } from "./s3.mjs"
import { vitest, writeSimulation } from "./vitest.mjs"

/**
 * The steps of a test run, in order. A step has
 * - `name`: `group:name`; `--only` takes the group or the whole name;
 * - `alone`: whether nothing may run beside it;
 * - `absent()`: the reason why it cannot run on this machine, or undefined; without it the step runs everywhere;
 * - `run({ filters })`: its outcome, `{ passed, failed, skipped, output }`, and optionally `measured`, lines to print, and `failures`, a line
 *   for each failed test.
 */
export const steps = [
  scriptCheck("format", "format:check"),
  scriptCheck("types", "typecheck"),
  scriptCheck("lint", "lint"),
  scriptCheck("unused", "lint:unused"),
  scriptCheck("exports", "check:exports"),
  scriptCheck("layers", "check:layers"),
  scriptCheck("doc-examples", "check:doc-examples"),
  scriptCheck("llms", "check:llms"),
  scriptCheck("site", "check:site"),
  buildCheck("build"),
  packedChecks("packages"),
  scriptCheck("size", "check:size"),
  scriptCheck("example", "check:example"),
  mutants(absent.node),
  benchmarks,
  vitest("node", absent.node),
  vitest("bun", absent.bun),
  vitest("deno", absent.deno),
  writeSimulation(absent.node),
  browser("chromium"),
  browser("firefox"),
  browser("webkit"),
  page("chromium"),
  page("firefox"),
  page("webkit"),
  browserCrash(),
  browserAgent("chromium"),
  browserAgent("firefox"),
  packedExamples,
  packedCli,
  packedDocs("node", absent.node),
  packedDocs("bun", absent.bun),
  packedDocs("deno", absent.deno),
  exam,
  createAdapter,
  entries("node", absent.node),
  entries("bun", absent.bun),
  entries("deno", absent.deno),
  ...olderNodes.map((major) => olderEntries(major, absent[`node${major}`])),
  processes(),
  crash,
  sqliteCrash,
  checkpointsCrash,
  recallCrash,
  claudeAgentCrash,
  httpCrash,
  fuzz,
  fuzzPostgres,
  linear("files"),
  linear("idb"),
  linear("s3"),
  linear("sqlite"),
  linear("postgres"),
  planted,
  simulation,
  onServer("node"),
  onServer("bun"),
  onServer("deno"),
  onPostgres("node"),
  onPostgres("bun"),
  onPostgres("deno"),
  postgresCrash,
  matrix,
]

export function select(all, only) {
  if (only.length === 0) return all
  return all.filter(({ name }) => only.some((wanted) => name === wanted || name.startsWith(`${wanted}:`)))
}
