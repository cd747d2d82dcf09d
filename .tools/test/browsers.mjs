import { rmSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"
import { outcomeOf } from "./report.mjs"
import { countsOf, program } from "./vitest.mjs"

/** The tests that need a browser, in one of the engines: `chromium`, `firefox` or `webkit`. */
export function browser(engine) {
  return {
    name: `browser:${engine}`,
    absent: () => absentFromSystem(system[engine]),
    async run({ filters }) {
      const file = join(root, ".reports", `browser-${engine}.json`)
      rmSync(file, { force: true })
      // What an earlier run left in its profile is nothing that this one should find.
      rmSync(join(root, ".reports", "chromium-profile"), { recursive: true, force: true })
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
          ...filters,
        ],
        { timeout: 5 * 60_000 },
      )
      return outcomeOf(countsOf(file), result)
    },
  }
}
