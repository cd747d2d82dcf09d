import { expect, test } from "vitest"
import { seed } from "../../core/test/property.ts"
import { replicaHistory } from "./replicas.ts"

/** More of them: `FC_RUNS=2000`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 8)

test(`no log tells of a call that has started as one that waits, in ${RUNS} histories of its branches and copies`, async () => {
  console.info(`SEED=${seed}`)
  const seen = new Set<string>()
  for (let run = 0; run < RUNS; run++) {
    const laws = await replicaHistory(seed + run, 14)
    expect(laws.wrong, `SEED=${seed + run} FC_RUNS=1`).toEqual([])
    for (const state of Object.keys(laws.seen)) seen.add(state)
  }
  if (RUNS > 1) expect([...seen].toSorted()).toEqual(["done", "repeatable", "unknown", "unrecorded", "waiting"])
}, 0)
