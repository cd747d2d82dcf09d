// What the conformance suite said of each adapter on each runtime, out of the reports that the runners left.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { junitCases } from "../test/junit.mjs"
import { root } from "./workspace.mjs"

const folder = join(root, ".reports")

/** Columns of the matrix: a runtime, and the files that its reports may be in. */
const runtimes = [
  { name: "node", title: "Node 26", files: ["entries-node.xml", "entries-s3:node.xml"] },
  { name: "node24", title: "Node 24", files: ["entries-node24.xml"] },
  { name: "node22", title: "Node 22", files: ["entries-node22.xml"] },
  { name: "node20", title: "Node 20", files: ["entries-node20.xml"] },
  { name: "bun", title: "Bun", files: ["entries-bun.xml", "entries-s3:bun.xml"] },
  { name: "deno", title: "Deno", files: ["entries-deno.xml", "entries-s3:deno.xml"] },
  { name: "chromium", title: "Chromium", files: ["browser-chromium.json"] },
  { name: "firefox", title: "Firefox", files: ["browser-firefox.json"] },
  { name: "webkit", title: "WebKitGTK", files: ["browser-webkit.json"] },
]

/** The adapter is the first word of a subject's name; what follows is a way of setting it up. */
const CASE = /^(\w+)[^A-Z]* [A-Z]+-\d\d /

/** `{ adapter: { runtime: { passed, failed, skipped } } }`, of every report that is there. */
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

/** Report files that a whole test run leaves and that are not there. */
export function missingReports() {
  const there = existsSync(folder) ? readdirSync(folder) : []
  return runtimes.flatMap(({ files }) => files).filter((file) => !there.includes(file))
}

/** A table for the README: how many cases passed, and how many an adapter's capabilities do not ask for. */
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
