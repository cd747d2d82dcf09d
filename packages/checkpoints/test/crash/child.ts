/** The process that is killed: a turn with edits, or a rewind, up to a given step. */
import type { Dice } from "../../../core/test/dice.ts"
import { contentsOf, note, openWorld, type World } from "./world.ts"

export interface Plan {
  readonly place: string
  readonly round: number
  /** Undefined: a turn. */
  readonly rewindTo?: string
  /** The process kills itself before this step. */
  readonly killAt: number
}

const PATHS = ["a", "b", "folder/c", "folder/d", "folder/inner/e"] as const
const EDITS = 4

export async function runChild(plan: Plan, random: Dice): Promise<void> {
  let steps = 0
  const world = await openWorld(plan.place, () => {
    if (steps++ === plan.killAt) process.kill(process.pid, "SIGKILL")
  })
  if (plan.rewindTo === undefined) await turn(world, plan, random)
  else {
    note(plan.place, { note: "rewind", target: plan.rewindTo })
    await world.checkpoints.rewind(plan.rewindTo)
    note(plan.place, { note: "ended" })
  }
  await world.sessions.close()
}

async function turn({ folder, files, session, checkpoints }: World, plan: Plan, random: Dice): Promise<void> {
  const { ids } = await session.append({ type: "message", message: { role: "user", content: "edit" } })
  const message = ids[0] as string
  note(plan.place, { note: "turn", message, folder: contentsOf(folder) })
  await checkpoints.begin(message)
  note(plan.place, { note: "begun" })
  for (let edit = 0; edit < EDITS; edit++) {
    const path = random.pick(PATHS)
    const content = random.below(4) === 0 ? null : `${plan.round}.${edit} `.padEnd(random.below(9_000), path)
    await checkpoints.track(path)
    note(plan.place, { note: "write", path, content })
    if (content === null) await files.remove(path)
    else await files.write(path, new TextEncoder().encode(content))
  }
  // Waits for the eviction behind `begin`.
  await checkpoints.list()
  note(plan.place, { note: "ended" })
}
