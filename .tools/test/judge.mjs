import { fromSources } from "../lib/from-sources.mjs"
import { absent } from "../lib/runtimes.mjs"
import { planted, search } from "./search.mjs"

const PROGRAM = "packages/core/test/judge/main.ts"

/** Sessions that grow over windows, with simulated providers, keep the laws of compaction. */
export const judge = search({
  name: "judge",
  absent: absent.node,
  amount: { test: 60, deep: 10_000 },
  minutes: 25,
  whole: /^histories [1-9]\d*, broken laws 0$/m,
  command: (histories, seed) => fromSources(PROGRAM, "--histories", histories, "--seed", seed),
})

/** Rules of compaction that are taken out of the sources: the judge finds that each is missing. */
export const judgePlanted = planted({
  name: "judge:planted",
  absent: absent.node,
  minutes: 3,
  command: fromSources(PROGRAM, "--planted"),
  counts: /^planted (?<all>\d+), missed (?<missed>\d+)$/m,
})
