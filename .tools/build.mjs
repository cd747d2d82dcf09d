// Builds the published packages: the declarations of all of them by tsc, the pages in core, then the JavaScript of each by tsup. With
// `--if-stale` only if a source has changed since the last build.
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fingerprintOfSources, isBuilt, stamp } from "./lib/build-stamp.mjs"
import { copyDeclarations } from "./lib/declarations.mjs"
import { withLock } from "./lib/lock.mjs"
import { writePackedPages } from "./lib/pages.mjs"
import { inPool } from "./lib/pool.mjs"
import { run } from "./lib/run.mjs"
import { publishable, root } from "./lib/workspace.mjs"

const ifStale = process.argv.includes("--if-stale")
if (!ifStale || !isBuilt()) {
  // Test files that run at once may all find the build stale.
  await withLock(join(root, ".reports", "build.lock"), async () => {
    if (!ifStale || !isBuilt()) await build()
  })
}

async function build() {
  rmSync(stamp, { force: true })
  const packages = publishable().map(({ dir }) => dir)
  await step("declarations", run("tsc", ["-b", ...packages.flatMap(projectsOf)]))
  for (const { dir, manifest } of publishable()) copyDeclarations(dir, manifest)
  writePackedPages()
  const config = join(root, ".config", "tsup.config.ts")
  await inPool(packages, (dir) => step(relative(root, dir), run("tsup", ["--config", config], { cwd: dir })))
  writeFileSync(stamp, fingerprintOfSources())
}

/** The projects of a package that emit: `tsconfig.json` refers to all of them and `tsconfig.test.json` only checks. */
function projectsOf(dir) {
  return readdirSync(dir)
    .filter((name) => /^tsconfig\..+\.json$/.test(name) && name !== "tsconfig.test.json")
    .map((name) => join(dir, name))
}

async function step(name, running) {
  const { code, output } = await running
  if (code === 0) return
  console.error(`${name}: the build failed\n${output}`)
  process.exit(1)
}
