import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { flags } from "../lib/from-sources.mjs"
import { newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { scratch } from "../lib/scratch.mjs"
import { root } from "../lib/workspace.mjs"
import { HANG_MS } from "./entries.mjs"
import { junitCounts } from "./junit.mjs"
import { outcomeOf } from "./report.mjs"
import { countsOf, program } from "./vitest.mjs"

/** The vitest tests that need a browser, in `chromium`, `firefox` or `webkit`; `brief`: the only file that `npm test` runs. */
export function browser(engine, minutes, brief) {
  return {
    name: `browser:${engine}`,
    absent: () => absentFromSystem(system[engine]),
    minutes,
    async run({ filters, deep }) {
      const file = join(root, ".reports", `browser-${engine}.json`)
      const files = filters.length === 0 && !deep && brief !== undefined ? [brief] : filters
      rmSync(file, { force: true })
      // The profile of an earlier run must not influence this one. Another engine's step may run beside Chromium.
      if (engine === "chromium") rmSync(join(root, ".reports", "chromium-profile"), { recursive: true, force: true })
      const result = await run(
        newestNode(),
        [
          program,
          "run",
          "--config",
          ".config/vitest.browser.ts",
          "--project",
          engine,
          "--reporter=default",
          "--reporter=json",
          `--outputFile.json=${file}`,
          ...(filters.length > 0 ? ["--passWithNoTests"] : []),
          ...files,
        ],
        { env: { TMPDIR: scratch(), ...(deep && { DEEP: "1" }) } },
      )
      return outcomeOf(countsOf(file), result)
    },
  }
}

/** Tests of pages without a test runner inside, `test/page/*.page.ts`: Node's runner drives the browser. */
export function page(engine, minutes) {
  return {
    name: `page:${engine}`,
    absent: () => absentFromSystem(system[engine]),
    minutes,
    async run({ deep }) {
      const file = join(root, ".reports", `page-${engine}.xml`)
      mkdirSync(join(root, ".reports"), { recursive: true })
      rmSync(file, { force: true })
      const result = await run(
        newestNode(),
        [
          ...flags,
          "--test",
          // All in one process, so that they share one browser.
          "--test-isolation=none",
          `--test-timeout=${HANG_MS}`,
          "--test-reporter=spec",
          "--test-reporter-destination=stdout",
          "--test-reporter=junit",
          `--test-reporter-destination=${file}`,
          "packages/*/test/page/*.page.ts",
        ],
        { env: { ENGINE: engine, TMPDIR: scratch(), ...(deep && { DEEP: "1" }) } },
      )
      return outcomeOf(existsSync(file) ? junitCounts(readFileSync(file, "utf8")) : undefined, result)
    },
  }
}
