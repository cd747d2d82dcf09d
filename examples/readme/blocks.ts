/**
 * The `ts` blocks of all pages, with what they print. A comment behind `console.log(…)` is the line that it prints; a `text` block directly below a block
 * is all that it prints. `isShown` says what `…` in it stands for.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

export const PAGES: readonly string[] = [
  "README.md",
  "docs/*.md",
  "packages/*/README.md",
  "packages/core/{AGENTS,skills/sessions/SKILL}.md",
  "examples/*/README.md",
  "conformance/README.md",
].flatMap((pattern) => globSync(pattern, { cwd: root }).map((path) => path.replaceAll("\\", "/")))

/** Blocks that a server is needed for. */
export const NEEDS_BUCKET = /from "@aws-sdk\/client-s3"/
export const NEEDS_DATABASE = /from "pg"/

/** What needs more than a process, and where it runs. */
export const ELSEWHERE: readonly (readonly [code: RegExp, test: string])[] = [
  [NEEDS_BUCKET, "examples/readme/test/server/pages.node.ts"],
  [NEEDS_DATABASE, "examples/readme/test/server/pages.node.ts"],
  [/https:\/\/example\.com/, "examples/readme/http.test.ts"],
  // It reads the database of an agent.
  [/opencode\.db/, "packages/formats/test/opencode-database.test.ts"],
  // The package of the command has 381 MB.
  [/\bquery\(\{/, "packages/claude-agent/test/command/main.ts"],
  [/from "\.\.?\//, "packages/create-adapter/test/template.test.ts"],
]

export interface Block {
  /** `docs/recipes.md:12`, the line of the fence. */
  readonly place: string
  readonly code: string
  readonly prints: readonly string[]
}

export function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8")
}

export function blocksOf(page: string): readonly Block[] {
  const text = textOf(page)
  return [...text.matchAll(/^```ts\n([^]*?)^```$(?:\n\n```text\n([^]*?)^```$)?/gm)].map((match) => {
    const [, code = "", shown] = match
    const comments = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, line = ""]) => line)
    return {
      place: `${page}:${text.slice(0, match.index).split("\n").length}`,
      code,
      prints: shown === undefined ? comments : shown.trimEnd().split("\n"),
    }
  })
}
