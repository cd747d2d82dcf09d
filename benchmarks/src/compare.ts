/**
 * Compares the built packages of another checkout with those of this one: each row is measured alternately on both, seven times. Both
 * sides run the benchmark code of this checkout; for the other side a copy of it resolves `@sessions/*` to the other packages.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { outputOf } from "./child.ts"
import { compared, type Comparison, comparisonTable } from "./comparison.ts"
import { withFolder } from "./folder.ts"
import type { Report } from "./merge.ts"
import type { Result } from "./report.ts"

const ROUNDS = 7
/** Rounds within a run. Few are enough, since each run is repeated. */
const INNER_ROUNDS = "3"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    before: { type: "string" },
    engine: { type: "string", default: "chromium" },
    quick: { type: "boolean", default: false },
  },
})
const flags = ["--engine", values.engine, ...(values.quick ? ["--quick"] : [])]

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))

const checkout = resolve(values.before ?? "")
if (!existsSync(join(checkout, "packages", "core", "dist", "index.js"))) {
  process.stderr.write(`${checkout} has no built packages: run \`npm run build\` there, or name another checkout.\n`)
  process.exit(2)
}

await withFolder(async (folder) => {
  const here = fileURLToPath(new URL("..", import.meta.url))
  const sides = { before: copyFor(checkout, here, join(folder, "copy")), after: here }
  const json = join(folder, "run.json")
  const rows: Comparison[] = []
  for (const group of positionals) {
    for (const id of (await run(here, [group, "--list"])).trim().split("\n")) {
      process.stderr.write(`${id} …\n`)
      const results: Record<keyof typeof sides, Result[]> = { before: [], after: [] }
      try {
        for (let round = 0; round < ROUNDS; round++) {
          const order = ["before", "after"] as const
          for (const side of round % 2 === 0 ? order : order.toReversed()) {
            await run(sides[side], [group, "--only", id, "--json", json])
            const { results: measured } = JSON.parse(readFileSync(json, "utf8")) as Report
            results[side].push(...measured.filter((result) => result.id === id))
          }
        }
        const row = compared(results.before, results.after)
        rows.push(row)
        // A comparison takes an hour, so each row is told as soon as it is known.
        process.stderr.write(`${comparisonTable([row])}\n`)
      } catch (error) {
        process.stderr.write(`${id} failed: ${error instanceof Error ? error.message : String(error)}\n`)
        process.exitCode = 1
      }
    }
  }
  if (rows.some(({ verdict }) => verdict === "slower")) process.exitCode = 1
  process.stdout.write(`${comparisonTable(rows)}\n`)
})

function run(benchmarks: string, args: readonly string[]): Promise<string> {
  return outputOf(join(benchmarks, "src", "main.ts"), [...args, ...flags], { BENCH_ROUNDS: INNER_ROUNDS })
}

/** Copies the benchmarks of `here` into `folder`, linked to the packages of `checkout`, and returns the path of the copy. */
function copyFor(checkout: string, here: string, folder: string): string {
  const copy = join(folder, "benchmarks")
  const link = (from: string, to: string): void => symlinkSync(realpathSync(from), to, "junction")
  mkdirSync(join(copy, "node_modules", "@sessions"), { recursive: true })
  cpSync(join(here, "src"), join(copy, "src"), { recursive: true })
  cpSync(join(here, "package.json"), join(copy, "package.json"))
  link(join(here, "peers"), join(copy, "peers"))
  link(join(here, "..", ".config"), join(folder, ".config"))
  for (const name of readdirSync(join(here, "node_modules"))) {
    if (name !== "@sessions") link(join(here, "node_modules", name), join(copy, "node_modules", name))
  }
  for (const name of readdirSync(join(checkout, "packages"))) {
    link(join(checkout, "packages", name), join(copy, "node_modules", "@sessions", name))
  }
  return copy
}
