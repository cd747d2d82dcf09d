import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { problemOf, shownExamples } from "../lib/example-lines.mjs"
import { linkDependencies } from "../lib/packed-project.mjs"
import { run } from "../lib/run.mjs"
import { absent } from "../lib/runtimes.mjs"
import { packages, root } from "../lib/workspace.mjs"
import { copyTree } from "../track-record/tree.mjs"
import { withPacked } from "./packed-step.mjs"

/** In a clone that nobody has built, the commands of each example's README print what it shows. */
export const clonedExamples = {
  name: "example:clone",
  absent: async () => (await absent.node()) ?? absent.deno(),
  async run() {
    const { folder, remove } = await copyTree()
    try {
      const examples = shownExamples()
      const problems = []
      for (const example of examples) problems.push(await problemOf(example, join(folder, "examples", example.name)))
      return outcomeOf(examples.length, problems.filter(Boolean))
    } finally {
      remove()
    }
  },
}

/** So they do in copies of the examples outside of the repository, with the packages as npm gets them. */
export const packedExamples = {
  name: "example:packed",
  absent: async () => (await absent.node()) ?? absent.deno(),
  async run() {
    return withPacked(async (_, folder) => {
      const examples = shownExamples()
      const problems = []
      for (const example of examples) problems.push(await problemOf(example, copyOf(example.name, folder)))
      const page = await compilePage(folder)
      if (page.code !== 0)
        problems.push(`a page, compiled with the packed types as Vite's template does:\n${page.output}`)
      return outcomeOf(examples.length + 1, problems.filter(Boolean))
    })
  },
}

function outcomeOf(count, problems) {
  return { passed: count - problems.length, failed: problems.length, skipped: 0, output: `${problems.join("\n")}\n` }
}

/** A copy of an example, with what npm would install for it. */
function copyOf(name, folder) {
  const dir = join(root, "examples", name)
  const { manifest } = packages().find((one) => one.dir === dir)
  const dependencies = { ...manifest.dependencies, ...manifest.devDependencies }
  linkDependencies({ dir, manifest: { dependencies } }, folder)
  const to = join(folder, name)
  cpSync(dir, to, { recursive: true, filter: (path) => !["node_modules", "dist"].includes(basename(path)) })
  return to
}

/** The page of "Getting started", with the options that a new project of Vite has: no `AsyncDisposable`, no types of Node. */
async function compilePage(folder) {
  const page = join(folder, "page")
  mkdirSync(page)
  const [, section = ""] = readFileSync(join(root, "docs", "getting-started.md"), "utf8").split("\n## A browser tab\n")
  writeFileSync(join(page, "main.ts"), /^```ts\n([^]*?)^```$/m.exec(section)?.[1] ?? "")
  const compilerOptions = {
    target: "es2023",
    lib: ["ES2023", "DOM"],
    module: "esnext",
    moduleResolution: "bundler",
    types: [],
    verbatimModuleSyntax: true,
    moduleDetection: "force",
    strict: true,
    noEmit: true,
  }
  writeFileSync(join(page, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }))
  return run(join(root, "node_modules", ".bin", "tsc"), ["--project", page])
}
