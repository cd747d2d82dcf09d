/** `pnpm bench:report [FILE]`: draws the JSON that `pnpm bench --json` wrote as a page, and the README's two plots. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Result } from "../report.ts"
import { page } from "./page.ts"
import { figures } from "./plots.ts"

const here = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const file = process.argv[2] ?? here("results.json")
const report = JSON.parse(readFileSync(file, "utf8")) as { machine: Record<string, unknown>; results: Result[] }
const drawn = figures(report.results)
writeFileSync(here("report.html"), page(report, drawn))
mkdirSync(here("plots"), { recursive: true })
for (const { name, svg } of drawn) {
  if (name === "resume" || name === "append-latency") writeFileSync(here(`plots/${name}.svg`), `${svg}\n`)
}
console.log(`${here("report.html")}: ${drawn.length} plots of ${report.results.length} results`)
