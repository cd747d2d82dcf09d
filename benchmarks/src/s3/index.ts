import type { Scenario } from "../report.ts"
import { ROUNDS } from "../rounds.ts"
import { s3Append } from "./append.ts"
import { s3Replay } from "./replay.ts"
import { s3Resume } from "./resume.ts"

/** Benchmarks of a session in a bucket of a real server. The raw loops send the same requests. */
export function s3Scenarios(quick: boolean): readonly Scenario[] {
  const rounds = quick ? 5 : ROUNDS
  return [
    // The number of messages of a segment, so that each round writes one segment.
    { id: "s3.append", run: () => s3Append(quick ? 32 : 128, rounds) },
    { id: "s3.resume", run: () => s3Resume(quick ? 5 : 20) },
    // The default `maxSessionBytes` less one batch.
    { id: "s3.replay.200mb", run: () => s3Replay(quick ? 20e6 : 199e6, rounds) },
  ]
}
