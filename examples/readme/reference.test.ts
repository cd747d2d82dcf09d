/** The pages of reference name everything that there is: error codes, diagnostics, events, hooks and options; and tests that exist. */
import { existsSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url)
const read = (path: string): string => readFileSync(at(path), "utf8")

/** The names of the members of an interface or object, which are indented by two blanks. */
function membersOf(path: string, start: string): string[] {
  const text = read(path)
  const body = text.slice(text.indexOf(start))
  expect(body.startsWith(start), `${path} has no ${start}`).toBe(true)
  return [...body.slice(0, body.indexOf("\n}")).matchAll(/^ {2}(?:readonly )?(\w+)\??: /gm)].map(
    ([, name = ""]) => name,
  )
}

const codes = membersOf("packages/core/src/format/errors.ts", "const STATUS")

test("each error code has an entry of its own, which the table links to", () => {
  const page = read("docs/errors.md")
  expect(codes).toHaveLength(16)
  const headings = [...page.matchAll(/^## `(\w+)` \{#([\w-]+)\}$/gm)]
  expect(headings.map(([, code]) => code)).toEqual(codes)
  for (const [, code = "", anchor] of headings) {
    expect(anchor).toBe(code.replaceAll("_", "-"))
    expect(page).toContain(`| [\`${code}\`](#${anchor}) |`)
  }
})

test("each error code has its meaning, what a crash or a repeat leaves, and the way out, with a block of code", () => {
  const page = read("docs/errors.md")
  const sections = page.slice(0, page.indexOf("\n## Diagnostics")).split(/^## /m).slice(1)
  expect(sections).toHaveLength(codes.length)
  for (const section of sections)
    expect(section).toMatch(/^\*\*Meaning\.\*\* [^]+^\*\*After it\.\*\* [^]+^\*\*Way out\.\*\* [^]+^```ts$/m)
})

test("the table of errors has the HTTP status of each code", () => {
  const source = read("packages/core/src/format/errors.ts")
  for (const code of codes) {
    const status = new RegExp(`^ {2}${code}: (\\d+),$`, "m").exec(source)?.[1]
    expect(read("docs/errors.md")).toMatch(new RegExp(`^\\| \\[\`${code}\`\\]\\(#[\\w-]+\\) \\| ${status} \\|`, "m"))
  }
})

test("each error code has a way out in the page for coding agents", () => {
  for (const code of codes) expect(read("packages/core/AGENTS.md")).toMatch(new RegExp(`^\\|.*\`${code}\`.*\\|$`, "m"))
})

test("each diagnostic has a row", () => {
  const found = [...read("packages/core/src/format/diagnostics.ts").matchAll(/^ {2}\| "(\w+)"$/gm)].map(
    ([, code]) => code,
  )
  expect(found.length).toBeGreaterThan(20)
  for (const code of found) expect(read("docs/errors.md")).toContain(`\n| \`${code}\` |`)
})

test("each event and each hook has a row", () => {
  const events = membersOf("packages/core/src/session/events.ts", "export interface SessionEvents")
  expect(events).toContain("appended")
  const hooks = membersOf("packages/core/src/session/hooks.ts", "export interface Hooks").flatMap((name) =>
    name === "compact" ? ["compact.before", "compact.after"] : [name],
  )
  for (const name of [...events, ...hooks]) expect(read("docs/events.md")).toContain(`\n| \`${name}\` |`)
})

test.each([
  ["packages/core/src/session/repository-types.ts", "export interface SessionsOptions"],
  ["packages/core/src/session/repository-types.ts", "export interface CreateOptions"],
  ["packages/core/src/session/repository-types.ts", "export interface ListOptions"],
  ["packages/core/src/write/types.ts", "export interface AppendOptions"],
  ["packages/core/src/session/types.ts", "export interface ContextOptions"],
  ["packages/core/src/session/types.ts", "export interface MessagesOptions"],
  ["packages/core/src/compaction/types.ts", "export interface CompactionSettings"],
  ["packages/core/src/context/prune/settings.ts", "export interface PruneOptions"],
])("the page of options has each option of %s, %s", (path, start) => {
  const members = membersOf(path, start)
  expect(members).not.toEqual([])
  for (const name of members) expect(read("docs/options.md")).toContain(`\`${name}\``)
})

test("each test that the comparison names exists", () => {
  const named = [
    ...read("docs/comparison.md").matchAll(/`((?:packages|conformance|\.tools)\/[^`]+\.ts)`(?:, "([^"]+)")?/g),
  ]
  expect(named.length).toBeGreaterThan(20)
  for (const [, path = "", name] of named) {
    expect(existsSync(at(path)), path).toBe(true)
    if (name !== undefined) expect(read(path), path).toContain(name)
  }
})
