import { join } from "node:path"
import { linearAdapters } from "../lib/linear.mjs"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"
import { outcomeOf } from "./report.mjs"

/** Rounds of a fixed number of calls: with faults and without, with deletes and replaces and without. `pnpm test:linear --seconds N` runs more. */
const ROUNDS = 3

/** What several clients see of one session at once is linearizable. Each round is one test. */
export function linear(adapter) {
  return {
    name: `linear:${adapter}`,
    absent: linearAdapters[adapter].absent,
    async run() {
      const result = await runMain(adapter, ["--rounds", `${ROUNDS}`])
      const [line, violations] = /^\w+: rounds .*, violations (\d+)$/m.exec(result.output) ?? []
      const failed = violations === "0" ? 0 : 1
      const counted = line === undefined ? undefined : { passed: failed > 0 ? 0 : ROUNDS, failed, skipped: 0 }
      return { ...outcomeOf(counted, result), measured: line === undefined ? [] : [line] }
    },
  }
}

/** Clients whose storage has a deliberate defect. Each is one test, which passes if the checker finds the defect. */
export const planted = {
  name: "linear:planted",
  absent: linearAdapters.files.absent,
  async run() {
    const result = await runMain("files", ["--planted"])
    const [, all, found] = /^(\d+) planted defects, (\d+) found$/m.exec(result.output) ?? []
    const counted =
      all === undefined ? undefined : { passed: Number(found), failed: Number(all) - Number(found), skipped: 0 }
    return outcomeOf(counted, result)
  },
}

function runMain(adapter, args) {
  return run(process.execPath, [join(root, ".tools", "linear.mjs"), "--adapter", adapter, ...args])
}
