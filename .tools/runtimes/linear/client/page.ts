/** A client in a tab: storage in IndexedDB. Reports are functions of the driver, which gives them their times. */
import { createIndexedDbStorage } from "@sessions/idb"
import { createDice } from "../../../../packages/core/test/dice.ts"
import type { Plan, Reports, Stored } from "./plan.ts"
import { withDefect } from "./planted.ts"
import { readStored, runClient } from "./run.ts"

declare global {
  /** Resolves when the driver has the report. */
  function report(report: object): Promise<void>
}

export interface ClientPage {
  /** Follows a plan; without operations it returns what is stored. */
  follow(plan: Plan): Promise<Stored | undefined>
}

const client: ClientPage = {
  async follow(plan) {
    const real = createIndexedDbStorage({ database: plan.place as string })
    const storage = plan.defect === undefined ? real : withDefect(plan.defect, real, createDice(plan.seed))
    const stored = plan.operations === 0 ? await readStored(storage, plan) : undefined
    if (stored === undefined) await runClient(storage, plan, reports, () => performance.now())
    await real[Symbol.asyncDispose]()
    return stored
  },
}

const reports: Reports = {
  begin: (n, call) => report({ begin: n, call }),
  end: (n, answer) => report({ end: n, answer }),
}

Object.assign(globalThis, { client })
