// The results of the conformance suite by adapter and runtime, read from the reports of the test runners.
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { junitCases } from "../test/junit.mjs"
import { root } from "./workspace.mjs"

const folder = join(root, ".reports")

/** The columns of the matrix, each with the report files of its runtime. */
const runtimes = [
  { name: "node", title: "Node 26", files: ["entries-node.xml", "entries-s3:node.xml", "entries-postgres:node.xml"] },
  { name: "node24", title: "Node 24", files: ["entries-node24.xml"] },
  { name: "node22", title: "Node 22.13", files: ["entries-node22.xml"] },
  { name: "bun", title: "Bun", files: ["entries-bun.xml", "entries-s3:bun.xml", "entries-postgres:bun.xml"] },
  { name: "deno", title: "Deno", files: ["entries-deno.xml", "entries-s3:deno.xml", "entries-postgres:deno.xml"] },
  { name: "chromium", title: "Chromium", files: ["browser-chromium.json"] },
  { name: "firefox", title: "Firefox", files: ["browser-firefox.json"] },
  { name: "webkit", title: "WebKitGTK", files: ["browser-webkit.json"] },
]

/** The first word of a subject's name is the adapter, the rest its configuration. */
const CASE = /^([\w-]+)[^A-Z]* [A-Z]+-\d\d /

/** `{ adapter: { runtime: { passed, failed, skipped } } }` of all existing reports. */
export function conformanceCounts() {
  const counts = {}
  for (const { name, files } of runtimes) {
    for (const { title, verdict } of files.flatMap(casesOf)) {
      const adapter = CASE.exec(title)?.[1]
      if (adapter === undefined) continue
      counts[adapter] ??= {}
      counts[adapter][name] ??= { passed: 0, failed: 0, skipped: 0 }
      counts[adapter][name][verdict]++
    }
  }
  return counts
}

/** The titles of the columns all of whose reports this process has written, and of the others. */
export function columnsOfThisRun() {
  const isNew = (file) =>
    existsSync(join(folder, file)) && statSync(join(folder, file)).mtimeMs >= performance.timeOrigin
  const isWhole = ({ files }) => files.every(isNew)
  const titles = (some) => some.map(({ title }) => title)
  return { whole: titles(runtimes.filter(isWhole)), others: titles(runtimes.filter((one) => !isWhole(one))) }
}

/** The cells of a table, `{ adapter: { title: text } }`, as `matrixTable` writes it. */
export function cellsOf(table) {
  const [head = [], , ...rows] = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((text) => text.trim()),
    )
  return Object.fromEntries(
    rows.map(([adapter, ...cells]) => [adapter, Object.fromEntries(cells.map((text, at) => [head[at + 1], text]))]),
  )
}

/** The table of conformance/README.md: passed cases, failed ones, and in parentheses those that the adapter's capabilities exclude. */
export function matrixTable(counts) {
  const columns = runtimes.filter(({ name }) => Object.values(counts).some((row) => row[name] !== undefined))
  const rows = Object.keys(counts)
    .toSorted()
    .map((adapter) => [`\`${adapter}\``, ...columns.map(({ name }) => cell(counts[adapter][name]))])
  const head = ["", ...columns.map(({ title }) => title)]
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
}

function cell(counts) {
  if (counts === undefined) return ""
  const { passed, failed, skipped } = counts
  return [`${passed}`, ...(failed > 0 ? [`**${failed} failed**`] : []), ...(skipped > 0 ? [`(${skipped})`] : [])].join(
    " ",
  )
}

function casesOf(file) {
  const path = join(folder, file)
  if (!existsSync(path)) return []
  const text = readFileSync(path, "utf8")
  return file.endsWith(".xml") ? junitCases(text) : vitestCases(JSON.parse(text))
}

function vitestCases({ testResults }) {
  const verdicts = { passed: "passed", failed: "failed" }
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ title, status }) => ({ title, verdict: verdicts[status] ?? "skipped" })),
  )
}
