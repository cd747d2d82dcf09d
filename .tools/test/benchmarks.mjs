import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { absent, newestNode } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"
import { build } from "./build.mjs"

const IDS = ["list.10k", "compaction.10k"]

/** Runs two groups of the benchmarks with little data and checks the JSON that they write, not their speed. */
export const benchmarks = {
  name: "benchmarks:quick",
  alone: true,
  absent: absent.node,
  async run() {
    const built = await build()
    if (built.code !== 0) return { passed: 0, failed: 1, skipped: 0, output: built.output }
    const file = join(root, ".reports", "benchmarks.json")
    mkdirSync(join(root, ".reports"), { recursive: true })
    rmSync(file, { force: true })
    const main = join("benchmarks", "src", "main.ts")
    const args = [main, "list", "compaction", "--quick", "--json", file]
    const { code, output } = await run(newestNode(), args)
    const wrong = code === 0 && existsSync(file) ? wrongIn(JSON.parse(readFileSync(file, "utf8"))) : "it failed"
    if (wrong === undefined) return { passed: 1, failed: 0, skipped: 0, output }
    return { passed: 0, failed: 1, skipped: 0, output: `${output}\nThe benchmarks' JSON: ${wrong}` }
  },
}

function wrongIn({ machine, results }) {
  if (typeof machine?.cpu !== "string") return "no machine"
  const ids = results.map(({ id }) => id)
  if (ids.join() !== IDS.join()) return `results of ${ids.join(", ")}, not of ${IDS.join(", ")}`
  const poor = results.find(({ value, raw, ratio, spread, rounds }) => {
    const [least, most] = spread
    return !(value > 0 && least <= value && value <= most && rounds >= 5 && Math.abs(raw / value / ratio - 1) < 1e-4)
  })
  return poor && `an invalid result: ${JSON.stringify(poor)}`
}
