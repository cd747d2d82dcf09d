/** Reads every entry of a session of 200 MB in several parts: as a stream, and as a tree with its context. */
import { inNewProcess } from "../child.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { ROUNDS } from "../rounds.ts"
import type { ReplayTimes } from "../children/replay.ts"
import { storedLog } from "./logs.ts"

export function replayScenarios(quick: boolean): readonly Scenario[] {
  const bytes = quick ? 20e6 : 200e6
  const rounds = quick ? 5 : ROUNDS
  return [
    { id: "replay.200mb", run: () => replay("replay.200mb", "stream", bytes, rounds) },
    { id: "replay.tree.200mb", run: () => replay("replay.tree.200mb", "tree", bytes, rounds) },
  ]
}

async function replay(id: string, how: "stream" | "tree", bytes: number, rounds: number): Promise<Result> {
  const { root, session } = await storedLog({ bytes, compacted: false })
  const { ours, raw, rawCopies } = await inNewProcess<ReplayTimes>("replay", [root, session, how, String(rounds)])
  // Peak memory is taken from a process that only replays once.
  const alone = await inNewProcess<ReplayTimes>("replay", [root, session, how, "0"])
  const work = {
    entries: alone.entries,
    ...(alone.peakMB === undefined ? {} : { peakMB: alone.peakMB }),
    ...(rawCopies.length === 0 ? {} : { "raw with tree and copies": median(rawCopies) }),
  }
  return { ...timed(id, "ms", { ours, raw }), work }
}
