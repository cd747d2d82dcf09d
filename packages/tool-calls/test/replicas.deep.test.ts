import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { seed } from "../../core/test/property.ts"
import { replicaHistory } from "./replicas.ts"

const RUNS = runs(1_000)

test(`no log tells of a call that has started as one that waits, in ${RUNS} long histories of its branches and copies`, async () => {
  console.info(`SEED=${seed}`)
  for (let run = 0; run < RUNS; run++)
    expect((await replicaHistory(seed + run, 30)).wrong, `SEED=${seed + run} FC_RUNS=1`).toEqual([])
}, 0)
