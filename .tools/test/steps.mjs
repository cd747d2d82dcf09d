import { absentFromSystem, system } from "../lib/debian.mjs"
import { absent, olderNodes } from "../lib/runtimes.mjs"
import { linearAdapters } from "../lib/linear.mjs"
import { agents } from "./agents.mjs"
import { benchmarks } from "./benchmarks.mjs"
import { browser, page } from "./browsers.mjs"
import { buildCheck, packedChecks, scriptCheck } from "./checks.mjs"
import { browserCrash, crashes } from "./crash.mjs"
import { onlyDeep } from "./deep.mjs"
import { entries, olderEntries, processes } from "./entries.mjs"
import { browserAgent } from "./examples.mjs"
import { createAdapter } from "./create-adapter.mjs"
import { exam } from "./exam.mjs"
import { fuzz, fuzzPlanted, fuzzPostgres } from "./fuzz.mjs"
import { installs } from "./installs.mjs"
import { judge, judgePlanted } from "./judge.mjs"
import { linear, linearPlanted } from "./linear.mjs"
import { matrix } from "./matrix.mjs"
import { merge, mergePlanted } from "./merge.mjs"
import { mutants } from "./mutants.mjs"
import { packedCli } from "./packed-cli.mjs"
import { packedDocs, packedDocsOnOlderNode } from "./packed-docs.mjs"
import { clonedExamples, packedExamples } from "./packed-examples.mjs"
import { packedOnOlderNode } from "./packed-nodes.mjs"
import { onPostgres, postgresCalls, postgresCrash } from "./postgres.mjs"
import { onServer, simulation } from "./s3.mjs"
import { trackRecord } from "./track-record.mjs"
import { laws, vitest } from "./vitest.mjs"

/**
 * The steps of a test run, in order. A step has
 * - `name`: `group:name`; `--only` takes the group or the whole name;
 * - `alone`: whether nothing may run beside it;
 * - `absent()`: the reason why it cannot run on this machine, or undefined; without it the step runs everywhere;
 * - `isDeep`: whether `npm test` leaves it out;
 * - `minutes`: how long it takes in a deep run on two cores, if that is more than half a minute; `isSearch`: whether it can do a share of that;
 * - `run({ filters, deep, scale, seed })`: its outcome, `{ passed, failed, skipped, output }`, and optionally `measured`, lines to print, `failures`,
 *   a line for each failed test, and `tests`, each with its seconds.
 */
export const steps = [
  scriptCheck("format", "format:check"),
  scriptCheck("types", "typecheck"),
  scriptCheck("lint", "lint"),
  scriptCheck("unused", "lint:unused"),
  scriptCheck("exports", "check:exports"),
  scriptCheck("layers", "check:layers"),
  scriptCheck("doc-examples", "check:doc-examples"),
  scriptCheck("limits", "check:limits"),
  scriptCheck("formats", "check:formats"),
  scriptCheck("failures", "check:failures"),
  scriptCheck("llms", "check:llms"),
  scriptCheck("site", "check:site"),
  scriptCheck("track-record", "check:track-record"),
  buildCheck("build"),
  packedChecks("packages"),
  scriptCheck("size", "check:size"),
  scriptCheck("example", "check:example"),
  vitest("node", absent.node, 20),
  vitest("bun", absent.bun, 20),
  vitest("deno", absent.deno, 20),
  // The longest first, so that the lanes end together.
  page("firefox", 3),
  browserAgent("chromium", 2),
  onServer("node", 2),
  browser("firefox", 4, "packages/idb/test/conformance.browser.test.ts"),
  page("chromium", 1),
  browser("chromium", 2),
  mutants(absent.node),
  exam,
  page("webkit", 2),
  onPostgres("node", 15),
  entries("bun", absent.bun, 1),
  entries("deno", absent.deno, 1),
  browser("webkit", 3, "packages/idb/test/conformance.browser.test.ts"),
  entries("node", absent.node, 1),
  onServer("bun", 1),
  onServer("deno", 1),
  processes(1),
  ...olderNodes.map((major) => olderEntries(major, absent[`node${major}`])),
  clonedExamples,
  packedExamples,
  packedCli,
  packedDocs("node", absent.node),
  onlyDeep(packedDocs("bun", absent.bun)),
  onlyDeep(packedDocs("deno", absent.deno)),
  ...olderNodes.map((major) => onlyDeep(packedDocsOnOlderNode(major, absent[`node${major}`]))),
  ...olderNodes.map((major) => packedOnOlderNode(major, absent[`node${major}`])),
  createAdapter,
  onlyDeep(installs),
  onlyDeep({
    ...scriptCheck("site-pages", "check:site-pages"),
    absent: () => absentFromSystem(system.chromium),
    minutes: 2,
  }),
  onlyDeep(browserAgent("firefox", 3)),
  browserCrash,
  ...crashes,
  fuzz,
  fuzzPostgres,
  merge("memory", { test: 300, deep: 50_000 }, 8),
  onlyDeep(merge("files", { test: 20, deep: 2_000 }, 5)),
  onlyDeep(merge("sqlite", { test: 20, deep: 2_000 }, 5)),
  ...Object.keys(linearAdapters).map(linear),
  judge,
  simulation,
  onPostgres("bun", 1),
  onPostgres("deno", 1),
  postgresCrash,
  postgresCalls,
  // It measures.
  benchmarks,
  ...[laws(absent.node, 50), agents, fuzzPlanted, judgePlanted, linearPlanted, mergePlanted, trackRecord, matrix].map(
    onlyDeep,
  ),
]

export function select(all, only) {
  if (only.length === 0) return all
  return all.filter(({ name }) => only.some((wanted) => name === wanted || name.startsWith(`${wanted}:`)))
}
