// Declarations by tsc for all packages at once, then the JavaScript of each package by tsup.
import { join, relative } from "node:path"
import { run } from "./lib/run.mjs"
import { publishable, root } from "./lib/workspace.mjs"

const projects = publishable().map(({ dir }) => join(dir, "tsconfig.src.json"))
const builds = [
  ["declarations", () => run("tsc", ["-b", ...projects])],
  ...publishable().map(({ dir }) => [relative(root, dir), () => run("tsup", [], { cwd: dir })]),
]

for (const [name, build] of builds) {
  const { code, output } = await build()
  if (code === 0) continue
  console.error(`${name}: the build failed\n${output}`)
  process.exit(1)
}
