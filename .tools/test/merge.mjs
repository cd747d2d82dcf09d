import { fromSources } from "../lib/from-sources.mjs"
import { absent } from "../lib/runtimes.mjs"
import { planted, search } from "./search.mjs"

const PROGRAM = ".tools/runtimes/merge/main.ts"

/** Random histories of storages that are merged keep the laws of docs/merge.md. */
export function merge(adapter, amount, minutes) {
  return search({
    name: `merge:${adapter}`,
    absent: absent.node,
    amount,
    minutes,
    whole: /^histories [1-9]\d* on \w+, violations 0$/m,
    command: (rounds, seed) => fromSources(PROGRAM, "--adapter", adapter, "--rounds", rounds, "--seed", seed),
  })
}

/** Merges that look plausible and are wrong are found. */
export const mergePlanted = planted({
  name: "merge:planted",
  absent: absent.node,
  minutes: 1,
  command: fromSources(PROGRAM, "--planted"),
  counts: /^planted (?<all>\d+), missed (?<missed>\d+)$/m,
})
