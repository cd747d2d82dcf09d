// Declarations by tsc for all packages at once, then the JavaScript of each package by Rolldown.
import { join, relative } from "node:path"
import { bundle } from "./lib/bundle.mjs"
import { run } from "./lib/run.mjs"
import { publishable, root } from "./lib/workspace.mjs"

const projects = publishable().map(({ dir }) => join(dir, "tsconfig.src.json"))
const { code, output } = await run("tsc", ["-b", ...projects])
if (code !== 0) fail("declarations", output)

for (const { dir } of publishable()) {
  await bundle(dir).catch((error) => fail(relative(root, dir), error.message))
}

function fail(name, why) {
  console.error(`${name}: the build failed\n${why}`)
  process.exit(1)
}
