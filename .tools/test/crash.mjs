import { fromSources } from "../lib/from-sources.mjs"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { absent } from "../lib/runtimes.mjs"
import { search } from "./search.mjs"

const onAllRuntimes = async () => (await absent.node()) ?? (await absent.bun()) ?? (await absent.deno())

export const CALLS_WHOLE =
  /^killed [1-9]\d* and stopped \d+ of \d+ processes, charged [1-9]\d*, twice 0, told wrongly 0, lost 0$/m

/** Processes of all three runtimes are killed, and another process looks for what they had acknowledged. */
export const crashes = [
  killing("fs", { test: 30, deep: 2_000 }, 12, /^acknowledged [1-9]\d*, lost 0, corrupt 0$/m),
  killing("sqlite", { test: 6, deep: 200 }, 6, /^acknowledged [1-9]\d*, lost 0, doubled 0$/m),
  killing(
    "checkpoints",
    { test: 8, deep: 200 },
    5,
    /^killed [1-9]\d* of \d+ rounds, without backup 0, half written 0$/m,
  ),
  killing("recall", { test: 6, deep: 200 }, 5, /^killed [1-9]\d* of \d+ processes, lost 0, damaged 0$/m),
  killing("tool-calls", { test: 4, deep: 1_600 }, 40, CALLS_WHOLE),
  killing(
    "claude-agent",
    { test: 2, deep: 50 },
    5,
    /^killed [1-9]\d* processes, acknowledged [1-9]\d* lines, lost 0, doubled 0, moved 0$/m,
  ),
  killing(
    "http",
    { test: 2, deep: 40 },
    8,
    /^killed [1-9]\d* servers, .*, interrupted [1-9]\d*, lost 0, doubled 0, unreported 0$/m,
  ),
]

function killing(name, amount, minutes, whole) {
  return search({
    name: `crash:${name}`,
    absent: onAllRuntimes,
    amount,
    minutes,
    whole,
    command: (rounds, seed) => fromSources(`packages/${name}/test/crash/main.ts`, "--rounds", rounds, "--seed", seed),
  })
}

/** Chromium is killed while a page appends, with each durability. */
export const browserCrash = search({
  name: "page:crash",
  absent: () => absentFromSystem(system.chromium),
  amount: { test: 1, deep: 30 },
  minutes: 5,
  whole: /^relaxed: killed [1-9]\d* times, .*$/m,
  command: (rounds, seed) => fromSources("packages/idb/test/page/crash.ts", "--rounds", rounds, "--seed", seed),
})
