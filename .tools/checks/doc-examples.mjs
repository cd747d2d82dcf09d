// Compiles each `ts` example of the README files and of `docs/` with TypeScript's `strict`, as a reader would who pastes it into a project.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"

/** The guide shows the template of `packages/create-adapter`, which is compiled and tested there. */
const ELSEWHERE = new Set([join("docs", "writing-an-adapter.md")])

const documents = [
  "*.md",
  "docs/*.md",
  "packages/*/README.md",
  "packages/core/{AGENTS,skills/sessions/SKILL}.md",
  "examples/*/README.md",
  "conformance/README.md",
]
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .filter((path) => !ELSEWHERE.has(path))

// This package depends on all that the examples import.
const folder = mkdtempSync(join(root, "examples", "readme", ".compile-"))
try {
  let examples = 0
  for (const path of documents) {
    const text = readFileSync(join(root, path), "utf8")
    for (const { 1: code, index } of text.matchAll(/^```ts\n([^]*?)^```$/gm)) {
      examples++
      const line = text.slice(0, index).split("\n").length
      // `export {}` makes a module of an example without imports. It stands last, so that the lines of errors are those of the example.
      writeFileSync(join(folder, `${path.replaceAll(/[\\/.]/g, "-")}-${line}.ts`), `${code}export {}\n`)
    }
  }
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: "nodenext",
        target: "es2023",
        lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"],
        types: ["node"],
        skipLibCheck: true,
        customConditions: ["@sessions/source"],
        allowImportingTsExtensions: true,
      },
      include: ["*.ts"],
    }),
  )
  const { code, output } = await run(join(root, "node_modules", ".bin", "tsc"), ["--project", folder])
  console.log(code === 0 ? `${examples} examples compile.` : output)
  process.exitCode = code === 0 && examples > 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}
