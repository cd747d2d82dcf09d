import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"

/**
 * The JavaScript of one package. What its main entry loads at once is one file, since bundlers and runtimes take files as they are:
 * a page with thirty small ones loads thirty, and pays for the compression of each. What is importable alone stands apart, and so
 * does what the main entry exports beside `src/main.ts`, where there is one: parts of it are loaded later by who does not ask for it.
 */
export async function bundle(dir) {
  const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"))
  const sources = Object.fromEntries(Object.entries(manifest.exports).map(([name, { source }]) => [name, source]))
  const files = [...Object.values(sources), ...Object.values(manifest.bin ?? {}).map(sourceOf)]
  const build = await rolldown({
    cwd: dir,
    input: Object.fromEntries(files.map((file) => [file.slice("./src/".length, -".ts".length), file])),
    // What is imported by name is a dependency.
    external: /^[^./\0]/,
    platform: "neutral",
    transform: { target: "es2022" },
    onLog(level, log, print) {
      // A note on how the files below are shared out.
      if (log.code !== "UNNAMED_GROUP" || level !== "info") print(level, log)
    },
  })
  clean(join(dir, "dist"))
  const groups = {
    contract: "src/storage/index.ts",
    main: "src/main.ts",
    rest: "src/session/rooms-rest.ts",
    more: sources["."],
  }
  await build.write({
    dir: join(dir, "dist"),
    format: "esm",
    sourcemap: true,
    // What they say is in the sources; an engine reads them at each start.
    comments: { jsdoc: false },
    // Chunks carry a hash in their name.
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: {
      groups: Object.entries(groups)
        .map(([chunk, file]) => [chunk, join(dir, file)])
        .filter(([, file]) => existsSync(file))
        .map(([chunk, file]) => group(chunk, file)),
    },
  })
  await build.close()
}

/** One chunk of what an entry imports, but for what it imports later. */
function group(chunk, entry) {
  let atOnce
  return {
    debugName: chunk,
    name(id, modules) {
      atOnce ??= importedAtOnce(entry, modules)
      return atOnce.has(id) ? chunk : undefined
    },
  }
}

function importedAtOnce(entry, modules) {
  const reached = new Set()
  const visit = (id) => {
    if (reached.has(id)) return
    reached.add(id)
    for (const next of modules.getModuleInfo(id)?.importedIds ?? []) visit(next)
  }
  visit(entry)
  return reached
}

/** Declarations are left to tsc. */
function clean(folder) {
  for (const name of readdirSync(folder, { recursive: true }))
    if (/\.js(\.map)?$/.test(name)) rmSync(join(folder, name))
}

function sourceOf(file) {
  return file.replace("./dist/", "./src/").replace(/js$/, "ts")
}
