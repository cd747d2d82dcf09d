// `pnpm docs:formats`: writes the table of formats into docs/formats.md: what each format declares, who checks its files, and what its writer
// reports as lost of a session that has everything. `--check` fails if it is stale.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { formats, writers } from "../packages/formats/src/index.ts"
import { sessionWithEverything } from "./lib/whole-session.mjs"
import { root } from "./lib/workspace.mjs"

const TESTS = join(root, "packages", "formats", "test")

/** Who checks the files of a format, and the tests in which it does. Without an entry: golden files after the program's sources. */
const VALIDATORS = {
  "claude-code": [
    ["Claude Code", "claude-code-agent"],
    ["the Claude Agent SDK", "claude-code-sdk"],
  ],
  codex: [["Codex", "codex-agent"]],
  copilot: [["Copilot CLI", "copilot-agent"]],
  gemini: [
    ["Gemini CLI", "gemini-agent"],
    ["its loader", "gemini"],
  ],
  "qwen-code": [["Qwen Code", "qwen-code-agent"]],
  dsh: [["its restore of generation 0", "dsh"]],
  opencode: [["opencode", "opencode-agent"]],
  pi: [["pi", "pi-agent"]],
  "ai-sdk-ui": [["the AI SDK", "ai-sdk-ui"]],
  "openai-responses": [["the types of `openai`", "openai-items"]],
  "openai-agents": [["the schemas of the Agents SDK", "openai-items"]],
}

/** How core reads what no format of this package does. */
const READ_BY_CORE = { pi: "by core, also in place" }

function validatorsOf(format) {
  const found = VALIDATORS[format] ?? []
  for (const [, name] of found)
    if (!existsSync(join(TESTS, `${name}.test.ts`))) throw new Error(`There is no test ${name} of ${format}.`)
  return found.length === 0 ? "golden files" : found.map(([who]) => who).join(", ")
}

function checkThatAllAreNamed() {
  const named = new Set(Object.values(VALIDATORS).flatMap((tests) => tests.map(([, name]) => `${name}.test.ts`)))
  const agents = readdirSync(TESTS).filter(
    (name) => /-(?:agent|sdk)\.test\.ts$/.test(name) && name !== "run-agent.test.ts",
  )
  const missing = agents.filter((name) => !named.has(name))
  if (missing.length > 0) throw new Error(`.tools/formats.mjs does not say what ${missing.join(", ")} checks.`)
}

/** The kinds of content that the writer reports as lost. */
async function lossesOf(writer) {
  const session = await sessionWithEverything()
  const kinds = new Set()
  for await (const _ of writer.write(session, { branches: "path", note: ({ what }) => kinds.add(what) }));
  return [...kinds].sort((a, b) => (a < b ? -1 : 1)).map((kind) => `\`${kind}\``)
}

checkThatAllAreNamed()
const all = new Map([...formats, ...writers].map((one) => [one.format, one]))
const rows = []
for (const one of all.values()) {
  const { format, title, versions = "–" } = one
  const isWritten = one.write !== undefined
  const losses = isWritten ? await lossesOf(one) : []
  const read = "rejects" in one ? "yes" : READ_BY_CORE[format]
  if (read === undefined) throw new Error(`.tools/formats.mjs does not say how ${format} is read.`)
  rows.push([
    `\`${format}\``,
    title,
    versions,
    read,
    isWritten ? "yes" : "no",
    validatorsOf(format),
    isWritten ? losses.join(", ") : "–",
  ])
}

const START = "<!-- formats: written by `pnpm docs:formats` -->\n"
const END = "<!-- end of formats -->"
const table = [
  "| format | of | versions | read | written | checked by | reported as lost or changed |",
  "|---|---|---|---|---|---|---|",
  ...rows.map((cells) => `| ${cells.join(" | ")} |`),
].join("\n")

const path = join(root, "docs", "formats.md")
const page = readFileSync(path, "utf8")
const written =
  page.slice(0, page.indexOf(START) + START.length) + "\n" + table + "\n\n" + page.slice(page.indexOf(END))
if (!process.argv.includes("--check")) writeFileSync(path, written)
else if (page !== written) {
  console.error("The table of formats in docs/formats.md is not what the sources have. `pnpm docs:formats` writes it.")
  process.exitCode = 1
}
