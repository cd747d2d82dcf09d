// `pnpm docs:failures`: writes the failures of what surrounds each storage into docs/errors.md, from the tables `src/failures.ts` of the packages,
// by which the storages themselves go. `--check` fails if the page is stale, or if a row's code promises what the row does not.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "./lib/workspace.mjs"

const PASSES = ["by itself", "after", "never"]
/** The codes that ask for a repeat. */
const AGAIN = new Set(["unavailable", "indeterminate"])
const WORDS = /\b(repeat|again|retry|later)\b/i

/** Of a table that a page loads, whose rows leave out what their code says. */
const PASSES_BY_CODE = { unavailable: "by itself", corrupt: "never", quota: "after", unsupported: "after" }

/** `[package, rows]` for each package that has a table. */
export async function tables() {
  const found = []
  for (const name of readdirSync(join(root, "packages")).sort()) {
    for (const place of ["failures.ts", "database/failures.ts"]) {
      const path = join(root, "packages", name, "src", place)
      if (existsSync(path)) found.push([name, (await import(pathToFileURL(path).href)).FAILURES.map(complete)])
    }
  }
  return found
}

function complete({ when, passes, ...row }) {
  return { ...row, when: when.source ?? when, passes: passes ?? PASSES_BY_CODE[row.code] }
}

/** What is wrong with a row; undefined if nothing is. */
export function problemOf({ when, passes, code, act }) {
  if (!PASSES.includes(passes)) return `${when}: passes is ${JSON.stringify(passes)}`
  if ((passes === "by itself") !== AGAIN.has(code)) return `${when}: ${code} for what passes ${passes}`
  if (passes === "never" && WORDS.test(act)) return `${when}: the sentence asks for a repeat of what never passes`
  return undefined
}

/** Rows that say the same are one row of the page. */
export function tableOf(rows) {
  const lines = new Map()
  for (const passes of PASSES) {
    for (const row of rows.filter((one) => one.passes === passes)) {
      const said = `${passes === "after" ? "after this" : passes} | \`${row.code}\` | ${row.act.replaceAll("|", "\\|")}`
      lines.set(said, [...(lines.get(said) ?? []), `\`${row.when.replaceAll("|", "\\|")}\``])
    }
  }
  return [
    "| | passes | code | |",
    "|---|---|---|---|",
    ...[...lines].map(([said, whens]) => `| ${whens.join(", ")} | ${said} |`),
  ].join("\n")
}

const START = "<!-- failures: written by `pnpm docs:failures` -->\n"
const END = "<!-- end of failures -->"

if (process.argv[1] === import.meta.filename) {
  const all = await tables()
  const problems = all.flatMap(([name, rows]) => rows.flatMap((row) => problemOf(row)?.replace(/^/, `${name}: `) ?? []))
  for (const problem of problems) console.error(problem)
  const text = all.map(([name, rows]) => `### \`@sessions/${name}\`\n\n${tableOf(rows)}`).join("\n\n")
  const path = join(root, "docs", "errors.md")
  const page = readFileSync(path, "utf8")
  const written = `${page.slice(0, page.indexOf(START) + START.length)}\n${text}\n\n${page.slice(page.indexOf(END))}`
  const isStale = page !== written
  if (isStale && !process.argv.includes("--check")) writeFileSync(path, written)
  else if (isStale)
    console.error("The failures in docs/errors.md are not those of the sources. `pnpm docs:failures` writes them.")
  if (problems.length > 0 || (isStale && process.argv.includes("--check"))) process.exitCode = 1
}
