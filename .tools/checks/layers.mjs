// Checks that no package has imports in a circle or from a lower to an upper layer. `.config/layers.json` lists the layers of
// each published package, lowest first; with `"strict": false` the violations of a package are counted and do not fail the check.
// `--list` lists those, too.
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { againstLayers, circlesOf, importsBelow } from "../lib/import-graph.mjs"
import { packages, root } from "../lib/workspace.mjs"

const rules = JSON.parse(readFileSync(join(root, ".config", "layers.json"), "utf8"))

for (const { dir, manifest } of packages().filter(({ dir }) => existsSync(join(dir, "src")))) {
  const name = relative(root, dir)
  const { strict = true, ...layered } = rules[manifest.name] ?? {}
  if (layered.layers === undefined && !manifest.private) fail(`${name} has no layers in .config/layers.json`)
  const imports = importsBelow(join(dir, "src"))
  const circles = circlesOf(imports).map(({ files, path }) => `a circle of ${files.length} files, ${path.join(" > ")}`)
  const unknown = (layered.layers ?? []).flat().filter((entry) => !existsSync(join(dir, "src", entry)))
  const violations = [
    ...unknown.map((entry) => `.config/layers.json names ${entry}, which does not exist`),
    ...(layered.layers === undefined ? [] : againstLayers(imports, layered)),
  ]
  const report = strict ? fail : process.argv.includes("--list") ? console.log : () => undefined
  for (const violation of [...circles, ...violations]) report(`${name}/src: ${violation}`)
  if (!strict)
    console.log(`${name}: not strict; ${circles.length} circles, ${violations.length} imports against the layers`)
}

function fail(message) {
  process.exitCode = 1
  console.error(message)
}
