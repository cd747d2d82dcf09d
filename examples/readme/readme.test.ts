/** Runs the code examples of README.md and of some documents of packages. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"
import { newFolder } from "./here.ts"

const TEXTS = [
  "README.md",
  "docs/compaction.md",
  "docs/search.md",
  "packages/search/README.md",
  "docs/history.md",
  "docs/recall.md",
  "packages/recall/README.md",
].map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"))

/** The output of each example, by its heading. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "# @sessions": /^1 sent, 2 stored\n$/,
  "A turn of an agent": /^2\nfix the tests 2\n$/,
  "A script on Node, Bun or Deno": /^2 1\n$/,
  "# Compaction": /^1\n$/,
  "Before and after a refusal": /^$/,
  "What was deleted or edited afterwards": /^1 false\n$/,
  "# Search over sessions": /^\[ true \]\n\[\]\n$/,
  "# @sessions/search": /^\w{26} user \S+Z Where is the \[deploy\] \[key\]\?\n$/,
  "Record and recall prompts": /^20 now run them\n20 fix the tests\n\/project fix the tests\n$/,
  "Keep secrets out": /^deploy with \[key\]\n$/,
  Extraction: /^few_messages\n1\ntrue\n$/,
  Consolidation: /^few_sessions\n\[ ['"]MEMORY\.md['"], ['"]deploy\.md['"] \]\n$/,
  "# @sessions/recall": /^$/,
}

/** Examples that need a server or a browser; the tests of `@sessions/s3` and `@sessions/idb` run them. */
const ELSEWHERE: ReadonlySet<string> = new Set(["A serverless function", "A page in a browser"])

/** The headings and the code below them. */
const all = TEXTS.flatMap((text) => text.split(/^##+ /m)).flatMap((section) => {
  const heading = section.slice(0, section.indexOf("\n"))
  const code = /^```ts\n([^]*?)^```$/m.exec(section)?.[1]
  return code === undefined ? [] : [{ heading, code }]
})
const examples = all.filter(({ heading }) => !ELSEWHERE.has(heading))

test("every example of these documents is run", () => {
  expect(examples.map(({ heading }) => heading)).toEqual(Object.keys(PRINTS))
  expect(TEXTS.join("\n").match(/```ts/g)).toHaveLength(all.length)
})

test.each(examples)("the example under “$heading” runs unchanged", ({ heading, code }) => {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-readme-"))
  const { folder, remove } = newFolder()
  const script = join(folder, "example.ts")
  writeFileSync(script, code)
  try {
    const { NODE_OPTIONS: _, ...env } = process.env
    const { status, stdout, stderr } = spawnSync(process.execPath, [...FLAGS, script], { cwd, env, encoding: "utf8" })
    expect(status, stderr).toBe(0)
    expect(stdout).toMatch(PRINTS[heading] as RegExp)
  } finally {
    remove()
    rmSync(cwd, { recursive: true, force: true })
  }
})
