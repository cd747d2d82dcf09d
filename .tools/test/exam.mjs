import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { grade, pathOf } from "../../exam/lib/grade.mjs"
import { mistakes } from "../../exam/lib/mistakes.mjs"
import { linkOthers, tasks } from "../../exam/lib/project.mjs"
import { absent } from "../lib/runtimes.mjs"
import { withPacked } from "./packed-step.mjs"

/**
 * The graders of the exam, with the packages as npm gets them: in `npm test` the one of the first task takes its reference solution, since a task takes
 * seconds; in a deep run each takes its own, and neither one with a mistake nor an empty folder.
 */
export const exam = {
  name: "exam:graders",
  absent: absent.node,
  minutes: 3,
  async run({ deep }) {
    return withPacked(async (_, folder) => {
      linkOthers(folder)
      const stale = staleMistakes()
      const graded = deep ? tasks() : tasks().slice(0, 1)
      const wrong = deep && stale.length === 0 ? [wrongOnes(folder)] : []
      const problems = [...stale, ...(await Promise.all([rightOnes(folder, graded), ...wrong])).flat()]
      return {
        passed: (deep ? 3 : 1) * graded.length - problems.length,
        failed: problems.length,
        skipped: 0,
        output: problems.join("\n"),
      }
    })
  },
}

async function rightOnes(folder, names) {
  const problems = []
  for (const name of names) {
    const { passed, reason } = await grade({ folder, name, solution: pathOf(name, "solution"), place: "right" })
    if (!passed) problems.push(`${name}: the reference solution is refused: ${reason}`)
  }
  return problems
}

async function wrongOnes(folder) {
  const problems = []
  for (const name of tasks()) {
    for (const what of ["an empty folder", "a solution with a mistake"]) {
      const solution = join(folder, ".solutions", name)
      mkdirSync(solution, { recursive: true })
      if (what !== "an empty folder") writeMistake(name, solution)
      const { passed } = await grade({ folder, name, solution, place: "wrong" })
      if (passed) problems.push(`${name}: ${what} is taken`)
      rmSync(solution, { recursive: true })
    }
  }
  return problems
}

function writeMistake(name, solution) {
  cpSync(pathOf(name, "solution"), solution, { recursive: true })
  const [file, right, wrong] = mistakes[name]
  const path = join(solution, file)
  writeFileSync(path, readFileSync(path, "utf8").replace(right, wrong))
}

/** Mistakes whose text is in no reference solution any more. */
function staleMistakes() {
  return tasks().flatMap((name) => {
    const [file, right] = mistakes[name]
    if (readFileSync(join(pathOf(name, "solution"), file), "utf8").includes(right)) return []
    return [`exam/lib/mistakes.mjs: ${name}/solution/${file} has no ${right}`]
  })
}
