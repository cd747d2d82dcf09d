// `node exam/grade.mjs DIR [--only NN[,NN…]]`: grades the solutions in a project folder, with a line for each and `N of 20`.
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { grade } from "./lib/grade.mjs"
import { tasks } from "./lib/project.mjs"

const [given, flag, numbers = ""] = process.argv.slice(2)
if (given === undefined || (flag !== undefined && flag !== "--only")) {
  console.error("Usage: node exam/grade.mjs DIR [--only NN[,NN…]]")
  process.exit(2)
}
const folder = resolve(given)
if (!existsSync(join(folder, "node_modules", "@sessions", "core"))) {
  console.error(`${folder} has no packages; make it with "node exam/make.mjs ${given}".`)
  process.exit(2)
}

const names = tasks(numbers.split(",").filter(Boolean))
let right = 0
for (const name of names) {
  const { passed, reason } = await grade({ folder, name, solution: join(folder, name) })
  if (passed) right++
  console.log(passed ? `right  ${name}` : `wrong  ${name}: ${reason}`)
}
console.log(`${right} of ${names.length}`)
process.exitCode = right === names.length ? 0 : 1
