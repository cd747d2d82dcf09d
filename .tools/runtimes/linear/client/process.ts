/**
 * A client in a process of its own. Its input has lines: `{"clock":true}`, which it answers with its clock, and at last its plan. It
 * reports each call before it begins and each answer, with its clock, so that nothing is missing after a kill.
 */
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import type { SessionStorage } from "@sessions/core/storage"
import { createDice } from "../../../../packages/core/test/dice.ts"
import type { Plan, Reports } from "./plan.ts"
import { withDefect } from "./planted.ts"
import { readStored, runClient } from "./run.ts"

/** Milliseconds. In Node the machine's monotonic clock, the same in all processes. */
export function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export async function serve(open: (plan: Plan) => SessionStorage): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line) as { clock: true } | { plan: Plan }
    if ("clock" in asked) say({ clock: clock() })
    else {
      await follow(asked.plan, open)
      break
    }
  }
  process.exit(0)
}

async function follow(plan: Plan, open: (plan: Plan) => SessionStorage): Promise<void> {
  const real = open(plan)
  const storage = plan.defect === undefined ? real : withDefect(plan.defect, real, createDice(plan.seed))
  if (plan.operations === 0) say({ stored: await readStored(storage, plan) })
  else await runClient(storage, plan, reports, clock)
  await real[Symbol.asyncDispose]()
}

const reports: Reports = {
  begin: (n, call) => say({ begin: n, at: clock(), call }),
  end: (n, answer, at) => say({ end: n, at, answer }),
}

/** Written before it returns: a kill cannot take it back. */
function say(value: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      // The pipe is full, and the reader busy.
      if ((error as { code?: string }).code !== "EAGAIN") throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}
