/** Judges one history: by the library, and by the oracle. */
import { drawHistory, type Op } from "./history.ts"
import { Oracle } from "./oracle.ts"
import { play } from "./play.ts"
import { Subject } from "./subject.ts"
import type { Outcome } from "./totals.ts"
import { drawWorld, type Model, type World } from "./world.ts"

export function drawCase(seed: number): { readonly world: World; readonly ops: readonly Op[] } {
  const world = drawWorld(seed)
  return { world, ops: drawHistory(seed, (world.models[0] as Model).window) }
}

export async function judge(world: World, ops: readonly Op[]): Promise<Outcome> {
  const subject = await Subject.open(world)
  await play(world, ops, subject)
  await subject.end()
  const oracle = new Oracle(world)
  await play(world, ops, oracle)
  const { tally: library, predictions, broken, endedForGood } = subject
  return { library, oracle: oracle.tally, predictions, broken, endedForGood }
}
