/** Runs every `ts` block of every page unchanged, and compares what it prints with what the page shows. */
import { existsSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { pagesOf } from "../../.tools/lib/pages.mjs"
import { isShown } from "../../.tools/lib/shown.mjs"
import { type Block, blocksOf, ELSEWHERE, PAGES, textOf } from "./blocks.ts"
import { newFolder } from "./here.ts"
import { runBlocks } from "./run.ts"
import { installLines } from "./test/installs/lines.ts"

/** Bun has tests of `node:test` in its own runner alone. */
const elsewhere =
  process.versions["bun"] === undefined
    ? ELSEWHERE
    : [...ELSEWHERE, [/"node:test"/, "examples/readme/pages.test.ts"] as const]

const blocks = PAGES.flatMap(blocksOf)
const here = blocks.filter(({ code }) => !elsewhere.some(([pattern]) => pattern.test(code)))
const { folder, remove } = newFolder()
afterAll(remove)
const results = runBlocks(here, folder)
const { BLOCKS_NODE: olderNode, PACKED_PROJECT: packed } = process.env

test.runIf(packed !== undefined)("the blocks find the packages as npm gets them", () => {
  const found = createRequire(join(folder, "block.js")).resolve("@sessions/core")
  expect(found.startsWith(join(realpathSync(dirname(packed ?? "")), "node_modules"))).toBe(true)
})

test.each(here.map((block, index) => ({ ...block, index })))(
  "$place runs and prints what the page shows",
  ({ place, prints, index }) => {
    const { printed, error } = results[index] ?? { printed: [], error: "was not run" }
    if (error?.includes("FTS5") === true && olderNode !== undefined) {
      // As on Node 22.13: its page says so.
      expect(textOf(place.replace(/:\d+$/, ""))).toContain("22.16")
      return
    }
    expect(error).toBeUndefined()
    if (!isShown(printed, prints)) expect(printed).toEqual(prints)
  },
)

test("the tests of the other blocks exist", () => {
  for (const [, path] of elsewhere) expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true)
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

const INSTALL = /^(?:npm install|bun add) (?:--\S+ )*([^#\n]+)/gm

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

const USED = [
  "README.md",
  ...pagesOf("Use it").map((name) => `docs/${name}.md`),
  ...PAGES.filter((page) => /^packages\/[^/]+\/README/.test(page)),
]

test.each(USED)("each package that a program of %s imports is in a command of that page", (page) => {
  const named = installLines([page]).flatMap(({ packages }) => packages)
  // The project has them.
  if (textOf(page).includes("npm create @sessions/adapter")) named.push("@sessions/conformance", "@sessions/memory")
  for (const block of blocksOf(page)) expect(named, block.place).toEqual(expect.arrayContaining(imported(block)))
})
