/** Judges one history: by the library, and by the oracle. */
import { drawHistory, type Op } from "./history.ts"
import { play } from "./play.ts"
import { type RuleFaults, Rules } from "./rules.ts"
import { Subject } from "./subject.ts"
import type { Tally } from "./tally.ts"
import type { Outcome } from "./totals.ts"
import { drawWorld, type Model, type World } from "./world.ts"

export function drawCase(seed: number): { readonly world: World; readonly ops: readonly Op[] } {
  const world = drawWorld(seed)
  return { world, ops: drawHistory(seed, (world.models[0] as Model).window, world.calm) }
}

export async function judge(world: World, ops: readonly Op[]): Promise<Outcome> {
  const subject = await Subject.open(world)
  await play(world, ops, subject)
  await subject.end()
  return outcomeOf(subject, await askOracle(world, ops))
}

/** The same for models of the library: the rules with a ruler, each without one of them. */
export async function judgeModels(world: World, ops: readonly Op[], faults: readonly RuleFaults[]): Promise<Outcome[]> {
  const oracle = await askOracle(world, ops)
  const outcomes: Outcome[] = []
  for (const fault of faults) {
    const model = new Rules(world, { ...fault, ruler: true })
    await play(world, ops, model)
    outcomes.push(outcomeOf(model, oracle))
  }
  return outcomes
}

async function askOracle(world: World, ops: readonly Op[]): Promise<Tally> {
  const oracle = new Rules(world, { ruler: false })
  await play(world, ops, oracle)
  return oracle.tally
}

function outcomeOf({ tally: library, predictions, broken, endedForGood }: Subject | Rules, oracle: Tally): Outcome {
  return { library, oracle, predictions, broken, endedForGood }
}
