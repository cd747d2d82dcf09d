// Checks how much JavaScript a page loads, minified and gzipped. Vite builds the page for production from the packages' dist. The entry,
// its static imports and every import() that the budget does not name as a feature count; the features are listed separately.
// `--modules` lists the modules of the counted files, in bytes before compression.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "vite"
import { publishable, root } from "../lib/workspace.mjs"

const budgets = JSON.parse(readFileSync(join(root, ".config", "size.json"), "utf8"))

for (const [name, budget] of Object.entries(budgets).filter(([n]) => (process.env.ONLY ?? "").split(",").includes(n))) {
  const { counted, features } = filesOf(await buildPage(budget.use), budget.features ?? [])
  const bytes = sizeOf(counted)
  const within = counted.length <= budget.files && bytes <= budget.bytes
  if (!within) process.exitCode = 1
  console.log(
    `${within ? "ok" : "TOO BIG"}  ${name}: ${bytes} bytes (of ${budget.bytes}) in ${counted.length} files (of ${budget.files})`,
  )
  for (const chunk of counted) console.log(`      ${sizeOf([chunk])} ${chunk.name}`)
  for (const [feature, files] of features) {
    console.log(`      ${sizeOf(files)} more in ${files.length} files with the feature ${feature}`)
  }
  if (process.argv.includes("--modules")) for (const line of modulesOf(counted)) console.log(`      ${line}`)
}

/** The chunks of a page that imports the functions of `use`, `{ package: function }`. */
async function buildPage(use) {
  const folder = mkdtempSync(join(tmpdir(), "sessions-size-"))
  try {
    for (const { dir, manifest } of publishable()) {
      const link = join(folder, "node_modules", manifest.name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(dir, link, "junction")
    }
    const imports = Object.entries(use).map(([name, member]) => `import { ${member} } from "${name}"`)
    // Assigned to a global, so that no function is dropped as unused.
    writeFileSync(
      join(folder, "main.js"),
      [...imports, `globalThis.page = { ${Object.values(use).join(", ")} }`].join("\n"),
    )
    writeFileSync(join(folder, "index.html"), `<script type="module" src="./main.js"></script>`)
    const { output } = await build({ root: folder, configFile: false, logLevel: "error", build: { write: false } })
    return new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The chunks that are loaded without a feature, and for each feature those that it adds to them. */
function filesOf(chunks, features) {
  const isFeature = (file) => features.includes(nameOf(chunks.get(file)))
  const entries = [...chunks.values()].filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName)
  const counted = reached(chunks, entries, (chunk) => [
    ...chunk.imports,
    ...chunk.dynamicImports.filter((file) => !isFeature(file)),
  ])
  const added = [...chunks.keys()].filter(isFeature).map((file) => {
    const files = [...reached(chunks, [file], ({ imports }) => imports)].filter((one) => !counted.has(one))
    return [nameOf(chunks.get(file)), files.map((one) => chunks.get(one))]
  })
  return { counted: [...counted].map((file) => chunks.get(file)), features: added }
}

function reached(chunks, files, next, found = new Set()) {
  for (const file of files) {
    if (found.has(file)) continue
    found.add(file)
    reached(chunks, next(chunks.get(file)), next, found)
  }
  return found
}

function sizeOf(chunks) {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code).length, 0)
}

/** Without the hash that the package's own build has added. */
function nameOf({ name }) {
  return name.replace(/-[A-Z0-9]{8}$/, "")
}

function modulesOf(chunks) {
  return chunks
    .flatMap(({ modules }) => Object.entries(modules))
    .sort(([, a], [, b]) => b.renderedLength - a.renderedLength)
    .map(([id, { renderedLength }]) => `${renderedLength} ${relative(root, id)}`)
}
