/** A process that extracts and consolidates, up to a given step, at which it kills itself. */
import * as fs from "node:fs"
import { join } from "node:path"
import { note, openWorld, type Plan } from "./world.ts"

export async function runChild(plan: Plan): Promise<void> {
  let steps = 0
  const world = await openWorld(plan, () => {
    if (steps++ === plan.killAt) process.kill(process.pid, "SIGKILL")
  })
  // Both processes begin at the same time.
  fs.writeFileSync(join(plan.place, `ready-${plan.name}`), "")
  while (!fs.existsSync(join(plan.place, `go-${plan.round}`))) await new Promise((resolve) => setTimeout(resolve, 1))
  const { facts } = await world.recall.extract(world.session, { force: true })
  note(plan.place, { note: "extracted", facts: facts.map(({ fact }) => fact) })
  const { skipped } = await world.consolidation.consolidate({ force: true })
  note(plan.place, { note: "consolidated", skipped: skipped ?? null, round: plan.round, name: plan.name })
  await world.sessions.close()
}
