/** `pnpm bench:idb [ENGINE…] [--rounds N]`: the storage beside the same transactions written by hand, in one page and run. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { bundle } from "../../../.config/browsers/bundle.ts"
import { type Engine, openBrowser, serve } from "../../../.config/browsers/page.ts"
import type { BenchOptions, Figures } from "./page.ts"

const { positionals, values } = parseArgs({ allowPositionals: true, options: { rounds: { type: "string" } } })
const engines = (positionals.length > 0 ? positionals : ["chromium", "firefox", "webkit"]) as Engine[]
const rounds = Number(values.rounds ?? 5)

const server = await serve({ "/page.js": await bundle(fileURLToPath(new URL("page.ts", import.meta.url))) })
for (const engine of engines) {
  const profile = engine === "chromium" ? mkdtempSync(join(tmpdir(), "sessions-bench-")) : undefined
  const page = await openBrowser(engine, profile === undefined ? {} : { profile })
  try {
    await page.open(server.url)
    await page.evaluate(`await new Promise((done) => {
      document.head.append(Object.assign(document.createElement("script"), { src: "page.js", onload: done }))
    })`)
    for (const durability of ["relaxed", "strict"] as const) {
      for (const [appends, lines] of [
        [500, 1],
        [50, 100],
      ] as const) {
        const options: BenchOptions = { durability, rounds, appends, lines }
        print(engine, options, (await page.evaluate(`return bench(${JSON.stringify(options)})`)) as Figures)
      }
    }
  } finally {
    await page.close()
    if (profile !== undefined) rmSync(profile, { recursive: true, force: true })
  }
}
await server.close()

function print(engine: Engine, { durability, appends, lines }: BenchOptions, figures: Figures): void {
  console.log(
    `${engine}, ${durability}: ${appends} appends of ${lines} lines of 2 KB; lines a second, median of ${rounds} rounds`,
  )
  row("append", figures.lines.append, figures.append)
  row("replay", figures.lines.replay, figures.replay)
  row("replay, folded", figures.lines.replay, figures.folded)
}

function row(name: string, lines: number, { ours, byHand }: Figures["append"]): void {
  const ratios = ours.map((seconds, index) => (byHand[index] ?? Number.NaN) / seconds)
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2))
  const rate = (seconds: readonly number[]): string => String(Math.round(lines / median(seconds))).padStart(8)
  console.log(
    `  ${name.padEnd(16)} ${rate(ours)}   by hand ${rate(byHand)}   ratio ${median(ratios).toFixed(2)} (${low} to ${high})`,
  )
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
