import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { linkDependencies } from "../lib/packed-project.mjs"
import { run } from "../lib/run.mjs"
import { absent, newestNode } from "../lib/runtimes.mjs"
import { packages, root } from "../lib/workspace.mjs"
import { withPacked } from "./packed-step.mjs"

/** The examples of the agent SDKs and the providers. Each prints the same in every run. */
const NAMES = ["ai-sdk-chat", "claude-agent", "langgraph", "openai-agents", "providers"]

/** Runs the examples in a folder of their own, with the packages as npm gets them: they print what they print in the workspace. */
export const packedExamples = {
  name: "example:packed",
  absent: absent.node,
  async run() {
    return withPacked(async (_, folder) => {
      copyExamples(folder)
      let [failed, output] = [0, ""]
      for (const name of NAMES) {
        const [packed, source] = [await print(folder, name, []), await print(folder, name, ["--conditions=source"])]
        if (packed.code === 0 && packed.output === source.output) continue
        failed++
        output += `${name}, packed:\n${packed.output}\nin the workspace:\n${source.output}\n`
      }
      const page = await compilePage(folder)
      if (page.code !== 0) {
        failed++
        output += `a page, compiled with the packed types as Vite's template does:\n${page.output}\n`
      }
      return { passed: NAMES.length + 1 - failed, failed, skipped: 0, output }
    })
  },
}

/** The examples, with what they need beside the packages. */
function copyExamples(folder) {
  const examples = packages().filter(
    ({ dir }) => NAMES.includes(basename(dir)) && basename(dirname(dir)) === "examples",
  )
  for (const example of examples) {
    linkDependencies(example, folder)
    const { dir } = example
    cpSync(dir, join(folder, basename(dir)), { recursive: true, filter: (path) => basename(path) !== "node_modules" })
  }
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

/** With conditions it is the example of the workspace, else the copy. */
async function print(folder, name, conditions) {
  const program = join(conditions.length > 0 ? join(root, "examples") : folder, name, "main.ts")
  const cwd = mkdtempSync(join(folder, "run-"))
  return run(newestNode(), [...conditions, program], { cwd, env: { NODE_NO_WARNINGS: "1" } })
}
