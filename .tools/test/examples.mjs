import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { flags } from "../lib/from-sources.mjs"
import { absent, newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { isDeep } from "../lib/test-files.mjs"
import { scratch } from "../lib/scratch.mjs"
import { root } from "../lib/workspace.mjs"
import { nodeReporters } from "./entries.mjs"
import { junitCounts } from "./junit.mjs"
import { outcomeOf } from "./report.mjs"

/** The tests of the example page, built from the sources, in `chromium` or `firefox`. */
export function browserAgent(engine, minutes) {
  return {
    name: `example:${engine}`,
    absent: async () => (await absent.node()) ?? absentFromSystem(system[engine]),
    minutes,
    async run({ deep }) {
      const report = join(root, ".reports", `example-${engine}.xml`)
      mkdirSync(join(root, ".reports"), { recursive: true })
      rmSync(report, { force: true })
      const folder = join("examples", "browser-agent", "test")
      const files = readdirSync(join(root, folder)).filter(
        (name) => name.endsWith(".browser.test.ts") && (deep || !isDeep(name)),
      )
      // All in one process, so that they share one browser.
      const args = [
        ...flags,
        "--test",
        "--test-isolation=none",
        ...nodeReporters(report),
        ...files.map((name) => join(folder, name)),
      ]
      const result = await run(newestNode(), args, { env: { ENGINE: engine, TMPDIR: scratch() } })
      return outcomeOf(existsSync(report) ? junitCounts(readFileSync(report, "utf8")) : undefined, result)
    },
  }
}
