/**
 * Runs every `ts` block of these pages unchanged. A comment behind `console.log(…)` is the line that it prints; a block prints all of its
 * comments, in order, and nothing else.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"
import { newFolder } from "./here.ts"

const PAGES = [
  "docs/getting-started.md",
  "docs/concepts.md",
  "docs/storages.md",
  "docs/recipes.md",
  "docs/errors.md",
  "docs/events.md",
  "docs/options.md",
  "docs/production.md",
  "docs/faq.md",
  "docs/merge.md",
  "docs/migration.md",
  "docs/tool-calls.md",
  "packages/tool-calls/README.md",
  "packages/core/README.md",
  "packages/core/AGENTS.md",
  "packages/core/skills/sessions/SKILL.md",
  "packages/memory/README.md",
  "packages/schema/README.md",
  "conformance/README.md",
]
/** Blocks that need a server: the tests of `@sessions/s3` run them. */
const ELSEWHERE = /from "@aws-sdk\/client-s3"/
/** Bun has `test` of this module in `bun test` alone. */
const OF_NODE = /from "node:test"/

const found = PAGES.flatMap((path) => {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
  return [...text.matchAll(/^```ts\n([^]*?)^```$/gm)]
    .map(({ 1: code = "", index }) => ({ place: `${path}:${text.slice(0, index).split("\n").length}`, code }))
    .filter(({ code }) => !ELSEWHERE.test(code))
})
const left = "Bun" in globalThis ? found.filter(({ code }) => OF_NODE.test(code)) : []
const blocks = found.filter((block) => !left.includes(block))
const RUN_BLOCKS = fileURLToPath(new URL("run-blocks.ts", import.meta.url))
const { folder, remove } = newFolder()
afterAll(remove)

const files = blocks.map(({ code }, index) => {
  const file = join(folder, `block-${index}.ts`)
  writeFileSync(file, code)
  return file
})
const results = runAll()

function runAll(): readonly { readonly printed: readonly string[]; readonly error?: string }[] {
  const list = join(folder, "files.json")
  writeFileSync(list, JSON.stringify(files))
  const { NODE_OPTIONS: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [...FLAGS, RUN_BLOCKS, list], {
    cwd: folder,
    env,
    encoding: "utf8",
  })
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`)
  return JSON.parse(stdout)
}

for (const { place } of left) test.skip(`${place} needs a test runner of Node, which Bun has in \`bun test\` alone`)

test.each(blocks.map((block, index) => ({ ...block, index })))(
  "$place runs and prints its comments",
  ({ code, index }) => {
    const { printed, error } = results[index] ?? { printed: [], error: "was not run" }
    expect(error).toBeUndefined()
    const expected = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, line]) => line)
    expect(printed).toEqual(expected)
  },
)
