/** Grades the solutions in a project folder: each grader runs in a process of its own, beside a copy of the solution. */
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { newestNode } from "../../.tools/lib/runtimes.mjs"
import { run } from "../../.tools/lib/run.mjs"
import { folderOfTasks } from "./project.mjs"

const TIME_LIMIT = 300_000

/**
 * The outcome of one task, `{ passed, reason }`. `folder` is the project, whose packages grader and solution use, and `solution` the folder of the
 * solution. Both are copied, so that the files that the task hands out are as they were, and a try before leaves nothing.
 */
export async function grade({ folder, name, solution, place = "grading" }) {
  const stage = join(folder, `.${place}`)
  const task = join(stage, "tasks", name)
  rmSync(task, { recursive: true, force: true })
  try {
    mkdirSync(join(task, "solution"), { recursive: true })
    cpSync(fileURLToPath(new URL("check.mjs", import.meta.url)), join(stage, "lib", "check.mjs"))
    cpSync(join(folderOfTasks, name, "check.mjs"), join(task, "check.mjs"))
    if (existsSync(solution)) {
      const filter = (path) => !["node_modules", "TASK.md"].includes(basename(path))
      cpSync(solution, join(task, "solution"), { recursive: true, filter })
    }
    const given = join(folderOfTasks, name, "given")
    if (existsSync(given)) cpSync(given, join(task, "solution"), { recursive: true })
    const env = { NODE_NO_WARNINGS: "1" }
    const { code, output } = await run(newestNode(), ["check.mjs"], { cwd: task, env, timeout: TIME_LIMIT })
    return { passed: code === 0, reason: code === 0 ? "" : reasonIn(output) }
  } finally {
    rmSync(task, { recursive: true, force: true })
  }
}

/** The sentence of the grader. What the solution printed before it is of no use in one line. */
function reasonIn(output) {
  const at = output.lastIndexOf("WRONG: ")
  return at < 0 ? output.trim().slice(-2_000) : output.slice(at + "WRONG: ".length).trim()
}

export function pathOf(task, ...names) {
  return join(folderOfTasks, task, ...names)
}
