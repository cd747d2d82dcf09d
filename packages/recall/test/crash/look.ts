/** What killed processes left: every acknowledged fact once, whole files, and calls that finish when they are repeated. */
import * as fs from "node:fs"
import { join } from "node:path"
import { BY_HAND, INDEX, notesOf, openWorld, type Plan } from "./world.ts"

export interface Found {
  readonly lost: readonly string[]
  readonly damaged: readonly string[]
}

/** `names`: the processes of the round. Repeats what they did. */
export async function look(plan: Plan, names: readonly string[]): Promise<Found> {
  const lost: string[] = []
  const damaged: string[] = []
  const world = await openWorld({ ...plan, name: "looker" }, () => undefined)
  const textOf = async (): Promise<string> => (await world.files.read(INDEX))?.text ?? ""
  try {
    damaged.push(...problemsIn(await textOf()))
    lost.push(...missingIn(await textOf(), notesOf(plan.place)))
    const won = notesOf(plan.place).filter((one) => one.note === "consolidated" && one.round === plan.round)
    for (const name of names) {
      const repeated = await openWorld({ ...plan, name }, () => undefined)
      await repeated.recall.extract(repeated.session, { force: true })
      await repeated.sessions.close()
    }
    // The lock of a killed process is stale two hours later.
    const later = await openWorld({ ...plan, round: plan.round + 1, name: "later" }, () => undefined)
    const { skipped } = await later.consolidation.consolidate({ force: true })
    if (skipped !== undefined)
      damaged.push(`the next consolidation was skipped: ${skipped}, after ${JSON.stringify(won)}`)
    await later.sessions.close()
    const text = await textOf()
    damaged.push(...problemsIn(text))
    for (const name of names) {
      for (const i of [0, 1, 2]) {
        const count = text.split(`fact ${name} ${plan.round} ${i} (`).length - 1
        if (count !== 1) lost.push(`fact ${name} ${plan.round} ${i} is there ${count} times`)
      }
    }
    if (plan.kind === "folder") damaged.push(...leftIn(join(plan.place, "memory")))
    return { lost, damaged }
  } finally {
    await world.sessions.close()
  }
}

function missingIn(text: string, notes: ReturnType<typeof notesOf>): string[] {
  const facts = notes.flatMap((one) => (one.note === "extracted" ? one.facts : []))
  return facts.filter((fact) => !text.includes(`${fact} (`))
}

/** Each line is whole, and what was written by hand comes first. */
function problemsIn(text: string): string[] {
  if (!text.startsWith(BY_HAND)) return [`the text begins with ${JSON.stringify(text.slice(0, 60))}`]
  const lines = text.slice(BY_HAND.length).split(/\r?\n/)
  const whole =
    /^(?:|## Auto-extracted memories|- \[project\] fact \S+ \d+ [012] \(confidence 1, 2026-\d\d-\d\d\)|tidied in \d+)$/
  return lines.filter((line) => !whole.test(line)).map((line) => `a damaged line: ${JSON.stringify(line)}`)
}

/** A temporary file is removed by the next write. */
function leftIn(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => name.startsWith(".memory-new-"))
}
