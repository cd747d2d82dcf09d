// What a page downloads for what it uses of a package, bundled by Rolldown as Vite does it, minified and gzipped: `first` with the
// import itself, `later` by its `import()`s, told one by one as what each costs beside what a page has then. With `--modules` it tells what `first` is made of, in bytes before compression.
import { gzipSync } from "node:zlib"
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { rolldown } from "rolldown"
import { root } from "../lib/workspace.mjs"

const budgets = JSON.parse(readFileSync(join(root, ".config", "size.json"), "utf8"))

for (const [name, budget] of Object.entries(budgets)) {
  const { first, later, rooms, modules } = await sizes(budget)
  const over = first > budget.first || later > budget.later
  if (over) process.exitCode = 1
  console.log(
    `${over ? "TOO BIG" : "ok"}  ${name}: ${first} bytes first (of ${budget.first}), ${later} later (of ${budget.later})`,
  )
  for (const [room, bytes] of rooms) console.log(`      ${bytes} with ${room}`)
  if (process.argv.includes("--modules")) for (const [file, bytes] of modules) console.log(`      ${bytes} ${file}`)
}

async function sizes({ in: folder, use }) {
  // A script that a page runs, and that nobody imports.
  const names = Object.values(use)
  const page = Object.entries(use).map(([name, what]) => `import { ${what} } from "${name}"`)
  page.push(`globalThis.page = { ${names.join(", ")} }`)
  const build = await rolldown({
    cwd: join(root, folder),
    input: "page",
    preserveEntrySignatures: false,
    platform: "browser",
    transform: { target: "es2022" },
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === "page" ? "\0page" : undefined),
        load: (id) => (id === "\0page" ? page.join("\n") : undefined),
      },
    ],
  })
  const { output } = await build.generate({ format: "esm", minify: true })
  await build.close()
  const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]))
  const bytes = (files) => [...files].reduce((sum, file) => sum + gzipSync(chunks.get(file).code).length, 0)
  const entry = [...chunks.values()].find(({ isEntry }) => isEntry)
  const first = atOnce(chunks, [entry.fileName])
  const all = [...chunks.keys()]
  const asked = [...first].flatMap((file) => chunks.get(file).dynamicImports)
  // Our packages fetch what they call the rest in the background.
  const beside = asked.filter((file) => nameOf(chunks.get(file)) === "rest")
  const there = atOnce(chunks, beside, new Set(first))
  const rooms = [...new Set(asked)].map((file) => {
    const known = beside.includes(file) ? first : there
    const own = [...atOnce(chunks, [file])].filter((one) => !known.has(one))
    return [nameOf(chunks.get(file)), bytes(own)]
  })
  const modules = [...first].flatMap((file) =>
    Object.entries(chunks.get(file).modules).map(([id, { renderedLength }]) => [relative(root, id), renderedLength]),
  )
  return {
    first: bytes(first),
    later: bytes(all.filter((file) => !first.has(file))),
    rooms,
    modules: modules.sort(([, a], [, b]) => b - a),
  }
}

/** Without the hash that the package's own build has put there. */
function nameOf({ name }) {
  return name.replace(/-[\w-]{8}$/, "")
}

/** These and all that they import, but for what they import later. */
function atOnce(chunks, files, reached = new Set()) {
  for (const file of files) {
    if (reached.has(file)) continue
    reached.add(file)
    atOnce(chunks, chunks.get(file).imports, reached)
  }
  return reached
}
