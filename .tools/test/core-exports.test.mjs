import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { importsBelow } from "../lib/import-graph.mjs"
import { root } from "../lib/workspace.mjs"

/** The names that the main entry may have at most. Each more has to replace one. */
const MOST = 75

const MAIN = `
  createSessions SessionsOptions BlobLimits ReadWindow Hooks CreateOptions Draft ListOptions OpenOptions SessionPage Sessions
  SessionMetrics SessionInfo

  BranchSummary HistoryMessage MessagesOptions MessagesPage Session SessionPart TurnContext SessionEvents
  OpenTip OpenTips AppendOptions AppendResult ConflictPolicy Divergence

  ContextOptions ContextMessage ContextMessageKind PrunedResult RepairMode SessionContext SummaryStyle
  estimateMessage estimateMessages TokenCounter Compaction Shortening LogReader

  Entry EntryType Header KnownEntry ModelRef AnyOwnEntry OwnEntry ParentSession NewEntry NewMessage
  AssistantMessage Attachment ContentBlock CustomRoleMessage FileBlock ImageBlock Message ModelMessage SystemMessage TextBlock
  ThinkingBlock ToolCallBlock ToolResultMessage Usage UserMessage Diagnostic DiagnosticCode

  hasCode httpStatus SessionError ErrorCode SessionErrorCode SessionErrorDetails`

const folder = join(root, "packages", "core")
const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
const entries = Object.entries(exports).map(([entry, { "@sessions/source": source }]) => ({
  entry,
  names: namesOf(join(folder, source)),
}))

test("the main entry of core has the names of this list, at most 75", () => {
  const { names } = entries.find(({ entry }) => entry === ".")
  expect(names.toSorted()).toEqual(MAIN.trim().split(/\s+/).toSorted())
  expect(names.length).toBeLessThanOrEqual(MOST)
})

test("no name is in two entries of core", () => {
  const all = entries.flatMap(({ entry, names }) => names.map((name) => ({ entry, name })))
  const repeated = all.filter(({ name }) => all.filter((one) => one.name === name).length > 1)
  expect(repeated).toEqual([])
})

test("only session/features/load.ts has an import(), and the main entry loads no code of /compaction, /transfer and /migrations", () => {
  const imports = importsBelow(join(folder, "src"), (file) => !file.endsWith(".test.ts"))
  const loading = imports.filter(({ kind }) => kind === "dynamic").map(({ from, to }) => [from, to])
  expect(loading).toEqual(
    ["context", "seldom"].map((feature) => ["session/features/load.ts", `session/features/${feature}.ts`]),
  )
  const loaded = new Set(["index.ts"])
  for (const file of loaded)
    for (const { from, to, kind } of imports) if (from === file && kind !== "type") loaded.add(to)
  expect(loaded.size).toBeGreaterThan(50)
  expect([...loaded].filter((file) => /^(compaction\/|transfer|context\/prune\/prune)/.test(file))).toEqual([])
})

/** The names that a file re-exports. Any other statement, such as an `export *`, is an error. */
function namesOf(file) {
  const lists = /export (?:type )?\{([^}]*)\} from "[^"]+"/g
  const code = readFileSync(file, "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "")
  expect(code.replaceAll(lists, "").trim()).toBe("")
  return [...code.matchAll(lists)].flatMap(([, list]) =>
    list
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter((name) => name !== ""),
  )
}

test("jsr.json has the version, the entries and the dependencies of package.json", () => {
  const read = (name) => JSON.parse(readFileSync(join(root, "packages", "core", name), "utf8"))
  const [npm, jsr] = [read("package.json"), read("jsr.json")]
  expect(jsr.version).toBe(npm.version)
  const entries = Object.entries(npm.exports).map(([entry, { "@sessions/source": source }]) => [entry, source])
  expect(jsr.exports).toEqual(Object.fromEntries(entries))
  const dependencies = Object.entries(npm.dependencies).map(([name, version]) => [name, `npm:${name}@${version}`])
  expect(jsr.imports).toEqual(Object.fromEntries(dependencies))
})
