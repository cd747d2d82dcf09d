/** Runs every `ts` block of every page unchanged, and compares what it prints with what the page shows. */
import { existsSync } from "node:fs"
import { afterAll, expect, test } from "vitest"
import { isShown } from "../../.tools/lib/shown.mjs"
import { type Block, blocksOf, NEEDS_BUCKET, NEEDS_DATABASE, PAGES, textOf } from "./blocks.ts"
import { newFolder } from "./here.ts"
import { runBlocks } from "./run.ts"

/** What needs more than a process, and where it runs. */
const ELSEWHERE: (readonly [code: RegExp, test: string])[] = [
  [NEEDS_BUCKET, "examples/readme/test/server/pages.node.ts"],
  [NEEDS_DATABASE, "examples/readme/test/server/pages.node.ts"],
  [/https:\/\/example\.com/, "examples/readme/http.test.ts"],
  // It reads the database of an agent.
  [/opencode\.db/, "packages/formats/test/opencode-database.test.ts"],
  // The package of the command has 381 MB.
  [/\bquery\(\{/, "packages/claude-agent/test/command/main.ts"],
  [/from "\.\.?\//, "packages/create-adapter/test/template.test.ts"],
]

/** Bun has tests of `node:test` in its own runner alone. */
if (process.versions["bun"] !== undefined) ELSEWHERE.push([/"node:test"/, "examples/readme/pages.test.ts"])

const blocks = PAGES.flatMap(blocksOf)
const here = blocks.filter(({ code }) => !ELSEWHERE.some(([pattern]) => pattern.test(code)))
const { folder, remove } = newFolder()
afterAll(remove)
const results = runBlocks(here, folder)

test.each(here.map((block, index) => ({ ...block, index })))(
  "$place runs and prints what the page shows",
  ({ prints, index }) => {
    const { printed, error } = results[index] ?? { printed: [], error: "was not run" }
    expect(error).toBeUndefined()
    if (!isShown(printed, prints)) expect(printed).toEqual(prints)
  },
)

test("the tests of the other blocks exist", () => {
  for (const [, path] of ELSEWHERE) expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true)
})

/** The packages that a block imports from elsewhere than the runtime. */
function imported({ code }: Block): string[] {
  const names = [...code.matchAll(/^import [^"]*"([^".]+[^"]*)"|^} from "([^".]+[^"]*)"/gm)].map(
    ([, one, other = ""]) => one ?? other,
  )
  return names
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"))
}

const INSTALL = /^npm install (?:--\S+ )*([^#\n]+)/gm

/** Each page with an install line, and the first block below it. */
const installed = PAGES.flatMap((page) => {
  const first = [...textOf(page).matchAll(INSTALL)][0]
  if (first === undefined) return []
  const line = textOf(page).slice(0, first.index).split("\n").length
  const block = blocksOf(page).find(({ place }) => Number(place.split(":")[1]) > line)
  return block === undefined ? [] : [{ page, packages: (first[1] ?? "").trim().split(/\s+/), block }]
})

test.each(installed)(
  "the install line of $page has what its first block imports, which prints something",
  ({ packages, block }) => {
    expect(packages).toEqual(expect.arrayContaining(imported(block)))
    expect(block.prints).not.toEqual([])
  },
)
