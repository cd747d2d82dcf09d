import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const TEXTS = ["README.md", "docs/compaction.md"].map((path) =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"),
)
/** The examples have no types, so they run as they are; in this package, so that they find its dependencies. */
const HERE = fileURLToPath(new URL(".", import.meta.url))
const FLAGS =
  "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only", "--conditions=source"] : ["--conditions=source"]

/** What each example prints last, by its heading. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  "Use it": /^2\nfix the tests 2\n$/,
  "A script on Node, Bun or Deno": /^2 1\n$/,
  "A test, or an agent that may forget": /^1\n$/,
  "The author of a storage": /passed: 1\d\d,\s+failed: 0/,
  "# Compaction": /^1\n$/,
}

/** What needs a server or a browser runs where there is one. */
const ELSEWHERE: ReadonlySet<string> = new Set(["A serverless function", "A page in a browser"])

/** Headings with the code that follows them. */
const all = TEXTS.flatMap((text) => text.split(/^##+ /m)).flatMap((section) => {
  const heading = section.slice(0, section.indexOf("\n"))
  const code = /^```ts\n([^]*?)^```$/m.exec(section)?.[1]
  return code === undefined ? [] : [{ heading, code }]
})
const examples = all.filter(({ heading }) => !ELSEWHERE.has(heading))

test("every example of the README and of what is told by example is one that is run here", () => {
  expect(examples.map(({ heading }) => heading)).toEqual(Object.keys(PRINTS))
  expect(TEXTS.join("\n").match(/```ts/g)).toHaveLength(all.length)
})

test.each(examples)("the example under “$heading” runs as it stands", ({ heading, code }) => {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-readme-"))
  const folder = mkdtempSync(join(HERE, ".run-"))
  const script = join(folder, "example.mjs")
  writeFileSync(script, code)
  try {
    const { NODE_OPTIONS: _, ...env } = process.env
    const { status, stdout, stderr } = spawnSync(process.execPath, [...FLAGS, script], { cwd, env, encoding: "utf8" })
    expect(status, stderr).toBe(0)
    expect(stdout).toMatch(PRINTS[heading] as RegExp)
  } finally {
    rmSync(folder, { recursive: true })
    rmSync(cwd, { recursive: true, force: true })
  }
})
