/** The pages of reference name everything that there is: error codes, diagnostics, events, hooks and options; and tests that exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { pagesOf } from "../../.tools/lib/pages.mjs"

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
  expect(codes).toHaveLength(19)
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
  ["packages/core/src/compaction-settings/types.ts", "export interface CompactionSettings"],
  ["packages/core/src/context/prune/settings.ts", "export interface PruneOptions"],
])("the page of options has each option of %s, %s", (path, start) => {
  const members = membersOf(path, start)
  expect(members).not.toEqual([])
  for (const name of members) expect(read("docs/options.md")).toContain(`\`${name}\``)
})

test("each page says first whom it is for, and is in README.md, and the pages are those of the two halves", () => {
  const pages = readdirSync(at("docs/")).filter((name) => name.endsWith(".md"))
  expect(pages.map((name) => name.slice(0, -".md".length)).toSorted()).toEqual(
    [...pagesOf("Use it"), ...pagesOf("How it works")].toSorted(),
  )
  for (const page of pages) {
    expect(read(`docs/${page}`), page).toMatch(/^# .*\n\nFor [a-z]/)
    expect(read("README.md")).toContain(`](docs/${page})`)
  }
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

/** The rows of the comparison and of README.md that `pnpm bench` measures: the label, the result, and the peer of each column. */
const FIGURES: readonly (readonly [label: string, id: string, columns: readonly (string | undefined)[]])[] = [
  ["append of 2 KB, acknowledged", "peers.append", ["", "pi", undefined, "SQLite (WAL)", "appendFile + JSON.parse"]],
  ["open a compacted session of 116 MB", "peers.open.116mb.compacted", ["", "pi", "claude-agent-sdk", "SQLite (WAL)"]],
  [
    "all messages of 116 MB",
    "peers.open.116mb",
    ["", "pi", "claude-agent-sdk", "SQLite (WAL)", "appendFile + JSON.parse"],
  ],
  ["list 1,000 sessions", "peers.list.1000", ["", "pi", "claude-agent-sdk", "SQLite (WAL)", "appendFile + JSON.parse"]],
  ["append, SQLite", "sqlite.peers.append", ["", "LangGraph's SqliteSaver", "pi"]],
  ["open a session of 1 MB, SQLite", "sqlite.peers.open.1mb", ["", "LangGraph's SqliteSaver", "pi"]],
  ["append, PostgreSQL", "postgres.peers.append", ["", "LangGraph's PostgresSaver"]],
  ["open a session of 1 MB, PostgreSQL", "postgres.peers.open.1mb", ["", "LangGraph's PostgresSaver"]],
  ["append a message, SQLite", "sqlite.peers.append", ["", "LangGraph's SqliteSaver"]],
  ["append a message, PostgreSQL", "postgres.peers.append", ["", "LangGraph's PostgresSaver"]],
  ["append", "peers.append.memory", ["", "openai-agents"]],
  ["read the messages of a session of 10 MB", "peers.open.memory", ["", "openai-agents"]],
]

interface Measured {
  readonly id: string
  readonly runtime: string
  readonly value: number
  readonly unit: string
  readonly peers?: Readonly<Record<string, number>>
}

test.each(FIGURES)("the figures of “%s” are those of benchmarks/results.json", (label, id, columns) => {
  const { results } = JSON.parse(read("benchmarks/results.json")) as { readonly results: readonly Measured[] }
  const measured = results.find((one) => one.id === id && one.runtime.startsWith("node"))
  const row = `${read("docs/comparison.md")}\n${read("README.md")}`
    .split("\n")
    .find((line) => line.startsWith(`| ${label} |`))
  const cells = row?.split("|").slice(2, -1) ?? []
  expect(cells.length).toBeGreaterThanOrEqual(columns.length)
  for (const [index, peer] of columns.entries()) {
    const [, shown = "", unit] = /^ ([\d.,]+) (µs|ms)/.exec(cells[index] ?? "") ?? []
    if (peer === undefined) expect(shown).toBe("")
    else {
      const value = (peer === "" ? measured?.value : measured?.peers?.[peer]) ?? Number.NaN
      const inUnit = unit === measured?.unit.slice(0, 2) ? value : unit === "ms" ? value / 1_000 : value * 1_000
      const digits = shown.replace(/^0\./, "").replace(/\D/g, "").replace(/^0+/, "").length
      expect(Number(inUnit.toPrecision(digits)), `${id}, ${peer || "@sessions"}`).toBe(Number(shown))
    }
  }
})
