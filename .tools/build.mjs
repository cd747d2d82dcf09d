// Builds the published packages: the declarations of all of them by tsc, then the JavaScript of each by tsup.
import { existsSync, readdirSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { run } from "./lib/run.mjs"
import { publishable, root } from "./lib/workspace.mjs"

const packages = publishable().map(({ dir }) => dir)
for (const dir of packages) removeStaleDeclarations(dir)
await step("declarations", run("tsc", ["-b", ...packages.flatMap(projectsOf)]))
const config = join(root, ".config", "tsup.config.ts")
for (const dir of packages) await step(relative(root, dir), run("tsup", ["--config", config], { cwd: dir }))

/** The projects of a package that emit: `tsconfig.json` refers to all of them and `tsconfig.test.json` only checks. */
function projectsOf(dir) {
  return readdirSync(dir)
    .filter((name) => /^tsconfig\..+\.json$/.test(name) && name !== "tsconfig.test.json")
    .map((name) => join(dir, name))
}

/** tsc leaves the declarations of removed and renamed sources, and they would be packed. tsup removes its own old files. */
function removeStaleDeclarations(dir) {
  const dist = join(dir, "dist")
  if (!existsSync(dist)) return
  for (const name of readdirSync(dist, { recursive: true }).filter((file) => file.endsWith(".d.ts"))) {
    if (!existsSync(join(dir, "src", name.replace(/\.d\.ts$/, ".ts")))) rmSync(join(dist, name))
  }
}

async function step(name, running) {
  const { code, output } = await running
  if (code === 0) return
  console.error(`${name}: the build failed\n${output}`)
  process.exit(1)
}
