import { join } from "node:path"
import { fromSources } from "../lib/from-sources.mjs"
import { absentFromSystem, system } from "../lib/debian.mjs"
import { absent, newestNode } from "../lib/runtimes.mjs"
import { root } from "../lib/workspace.mjs"
import { planted, search } from "./search.mjs"

const PROGRAM = ".tools/runtimes/fuzz/main.ts"
const WHOLE = /^rounds \d+, findings 0,.*$/m
/** In deep an amount is minutes. */
const optionsOf = (amount, seed, deep) => [deep ? "--minutes" : "--rounds", String(amount), "--seed", String(seed)]

/** Logs of every version are damaged on each storage that needs no server, and everything is called. */
export const fuzz = search({
  name: "fuzz",
  absent: absent.node,
  amount: { test: 40, deep: 60, least: 1 },
  minutes: 60,
  whole: WHOLE,
  command: (...amount) => fromSources(PROGRAM, ...optionsOf(...amount)),
})

/** The same on PostgreSQL. */
export const fuzzPostgres = search({
  name: "fuzz:postgres",
  absent: async () =>
    (await absent.node()) ?? (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres)),
  amount: { test: 6, deep: 10, least: 1 },
  minutes: 10,
  whole: WHOLE,
  command: (...amount) => [newestNode(), [join(root, ".tools", "fuzz-postgres.mjs"), ...optionsOf(...amount)]],
})

/** Checks that are taken out of the sources: the fuzzer finds that each is missing. */
export const fuzzPlanted = planted({
  name: "fuzz:planted",
  absent: absent.node,
  minutes: 10,
  command: fromSources(PROGRAM, "--planted"),
  counts: /^planted (?<all>\d+), missed (?<missed>\d+)$/m,
})
