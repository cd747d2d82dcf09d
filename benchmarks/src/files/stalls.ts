/** How long calls on a session of 200 MB keep the event loop from anything else. */
import { inNewProcess } from "../child.ts"
import type { Stalls } from "../children/stalls.ts"
import { type Result, type Scenario, timed } from "../report.ts"
import { storedLog } from "./logs.ts"

export function stallScenarios(quick: boolean): readonly Scenario[] {
  return [{ id: "stalls.200mb", run: () => stalls(quick ? 20e6 : 200e6, quick ? 1 : 3) }]
}

/** The value is that of the calls for which a limit holds: `list`, `open`, `append`. The others are in `work`. */
async function stalls(bytes: number, rounds: number): Promise<Result> {
  const { root, session } = await storedLog({ bytes, compacted: false })
  const ours: number[] = []
  let work: Readonly<Record<string, number>> = {}
  for (let round = 0; round < rounds; round++) {
    const { longest } = await inNewProcess<Stalls>("stalls", [root, session])
    const { list = 0, open = 0, append = 0 } = longest
    ours.push(Math.max(list, open, append))
    work = longest
  }
  return { ...timed("stalls.200mb", "ms", { ours, raw: [] }), work }
}
