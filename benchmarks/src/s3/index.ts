import type { Scenario } from "../report.ts"
import { ROUNDS } from "../rounds.ts"
import { s3Append } from "./append.ts"
import { s3Replay } from "./replay.ts"
import { s3Resume } from "./resume.ts"

/** A session in a bucket of a real server, beside the same requests by hand. */
export function s3Scenarios(quick: boolean): readonly Scenario[] {
  const rounds = quick ? 5 : ROUNDS
  return [
    // As many messages as the tail seals at once, so that each round holds one sealing.
    { id: "s3.append", run: () => s3Append(quick ? 32 : 128, rounds) },
    { id: "s3.resume", run: () => s3Resume(quick ? 5 : 20) },
    // The most that a session may have by default, less a batch.
    { id: "s3.replay.200mb", run: () => s3Replay(quick ? 20e6 : 199e6, rounds) },
  ]
}
