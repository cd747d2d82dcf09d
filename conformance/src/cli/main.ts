#!/usr/bin/env node
import process from "node:process"
import { run } from "../runner/run.ts"
import type { Arguments } from "./arguments.ts"
import { HELP, readArguments, UsageError } from "./arguments.ts"
import type { FullReport } from "./report.ts"
import { asLine, asTap, asText, totalsOf } from "./report.ts"
import { tryProperties } from "./properties.ts"
import { collectStrays } from "./strays.ts"
import { loadSubjects } from "./load-subjects.ts"

process.exitCode = await main(process.argv.slice(2))
// A subject may have left timers, sockets or child processes behind; what had to be said is said.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()))
process.exit()

async function main(args: readonly string[]): Promise<number> {
  try {
    const wanted = readArguments(args, Date.now)
    if (wanted === undefined) {
      process.stdout.write(HELP)
      return 0
    }
    return await conform(wanted)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
}

async function conform(wanted: Arguments): Promise<number> {
  const reports: FullReport[] = []
  const strays = collectStrays()
  for (const subject of await loadSubjects(wanted.file)) {
    const { only, timeLimit } = wanted
    const report = await run(subject, { timeLimit, strays, ...(only !== undefined && { only }) })
    reports.push({ ...report, properties: await tryProperties(subject, wanted, strays) })
    if (wanted.format === "text") process.stdout.write(`${asText(reports.at(-1) as FullReport)}\n\n`)
  }
  const totals = totalsOf(reports)
  if (wanted.format === "json") process.stdout.write(`${JSON.stringify({ totals, reports }, null, 2)}\n`)
  if (wanted.format === "tap") process.stdout.write(`${asTap(reports)}\n`)
  if (wanted.format === "text") process.stdout.write(`${asLine(totals)}\n`)
  return totals.failed > 0 ? 1 : 0
}
