import { join } from "node:path"
import { linearAdapters } from "../lib/linear.mjs"
import { root } from "../lib/workspace.mjs"
import { planted, search } from "./search.mjs"

const PROGRAM = join(root, ".tools", "linear.mjs")

/** What several clients see of one session at once is linearizable. Three rounds are one with each of: faults, deletes and replaces, neither. */
export function linear(adapter) {
  return search({
    name: `linear:${adapter}`,
    absent: linearAdapters[adapter].absent,
    amount: { test: 3, deep: 600, least: 10 },
    minutes: 10,
    whole: /^\w+: rounds .*, violations 0$/m,
    command: (amount, seed, deep) => [
      process.execPath,
      [PROGRAM, "--adapter", adapter, deep ? "--seconds" : "--rounds", String(amount), "--seed", String(seed)],
    ],
  })
}

/** Clients whose storage has a deliberate defect: the checker finds each. */
export const linearPlanted = planted({
  name: "linear:planted",
  absent: linearAdapters.files.absent,
  minutes: 3,
  command: [process.execPath, [PROGRAM, "--adapter", "files", "--planted"]],
  counts: /^(?<all>\d+) planted defects, (?<found>\d+) found$/m,
})
