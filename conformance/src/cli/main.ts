#!/usr/bin/env node
/** The command `sessions-conformance`: runs the suite and the properties against the subjects of a module. */
import process from "node:process"
import { run } from "../runner/run.ts"
import { type Arguments, HELP, readArguments, UsageError } from "./arguments.ts"
import { loadSubjects } from "./load-subjects.ts"
import { checkProperties } from "./properties.ts"
import { asLine, asTap, asText, type FullReport, totalsOf } from "./report.ts"

process.exitCode = await main(process.argv.slice(2))
// The exit is explicit, because a subject may have left timers, sockets or child processes open. The output is flushed before.
await new Promise<void>((resolve) => process.stdout.write("", () => resolve()))
process.exit()

async function main(args: readonly string[]): Promise<number> {
  try {
    const wanted = readArguments(args, Date.now)
    if (wanted === undefined) {
      process.stdout.write(HELP)
      return 0
    }
    return await runSubjects(wanted)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
}

async function runSubjects(wanted: Arguments): Promise<number> {
  const reports: FullReport[] = []
  const uncaughtErrors = collectUncaughtErrors()
  for (const subject of await loadSubjects(wanted.file)) {
    const { only, timeLimit } = wanted
    const report = await run(subject, { timeLimit, uncaughtErrors, ...(only !== undefined && { only }) })
    reports.push({ ...report, properties: await checkProperties(subject, wanted, uncaughtErrors) })
    if (wanted.format === "text") process.stdout.write(`${asText(reports.at(-1) as FullReport)}\n\n`)
  }
  const totals = totalsOf(reports)
  if (wanted.format === "json") process.stdout.write(`${JSON.stringify({ totals, reports }, null, 2)}\n`)
  if (wanted.format === "tap") process.stdout.write(`${asTap(reports)}\n`)
  if (wanted.format === "text") process.stdout.write(`${asLine(totals)}\n`)
  return totals.failed > 0 ? 1 : 0
}

/**
 * Keeps unhandled rejections and errors in timers from ending the process. The returned function returns those that were caught
 * since its last call.
 */
function collectUncaughtErrors(): () => readonly unknown[] {
  const errors: unknown[] = []
  const record = (error: unknown): void => void errors.push(error)
  process.on("unhandledRejection", record)
  process.on("uncaughtException", record)
  return () => errors.splice(0)
}
