/** `pnpm bench:report [FILE]`: draws the JSON of `pnpm bench --json` as an HTML page, and the plots of the README. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Report } from "../merge.ts"
import { standing } from "./draw.ts"
import { page } from "./page.ts"
import { figures, shortComparison } from "./plots.ts"

/** The plots in the README. */
const PLOTS = ["append-latency", "resume"]

const here = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const file = process.argv[2] ?? here("results.json")
const report = JSON.parse(readFileSync(file, "utf8")) as Report
const drawn = figures(report.results)
writeFileSync(here("report.html"), page(report, drawn))
mkdirSync(here("plots"), { recursive: true })
const comparison = shortComparison(report.results)
if (comparison !== undefined) writeFileSync(here("plots/peers.svg"), `${standing(comparison.draw(720))}\n`)
for (const { name, draw } of drawn) {
  if (PLOTS.includes(name)) writeFileSync(here(`plots/${name}.svg`), `${standing(draw(720))}\n`)
}
console.log(`${here("report.html")}: ${drawn.length} plots of ${report.results.length} results`)
