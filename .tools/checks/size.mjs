// What a page downloads for what it uses of a package, bundled and gzipped: `first` with the import itself, `later` by its
// `import()`s.
import { gzipSync } from "node:zlib"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { root } from "../lib/workspace.mjs"

const budgets = JSON.parse(readFileSync(join(root, ".config", "size.json"), "utf8"))

for (const [name, budget] of Object.entries(budgets)) {
  const { first, later } = await sizes(name, budget.use)
  const over = first > budget.first || later > budget.later
  if (over) process.exitCode = 1
  console.log(
    `${over ? "TOO BIG" : "ok"}  ${name}: ${first} bytes first (of ${budget.first}), ${later} later (of ${budget.later})`,
  )
}

async function sizes(name, use) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { ${use} } from "${name}"`, resolveDir: join(root, "conformance") },
    logOverride: { "ignored-bare-import": "silent" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    splitting: true,
    outdir: join(root, ".reports", "size"),
    write: false,
    metafile: true,
    absWorkingDir: root,
  })
  const bytes = new Map(outputFiles.map((file) => [file.path, gzipSync(file.contents).length]))
  const eager = staticallyImported(metafile.outputs)
  let first = 0
  let later = 0
  for (const [path, size] of bytes) {
    if (eager.has(path)) first += size
    else later += size
  }
  return { first, later }
}

function staticallyImported(outputs) {
  const reached = new Set()
  const visit = (path) => {
    if (reached.has(join(root, path))) return
    reached.add(join(root, path))
    for (const { path: next, kind } of outputs[path].imports) if (kind === "import-statement") visit(next)
  }
  visit(Object.keys(outputs).find((path) => path.endsWith("stdin.js")))
  return reached
}
