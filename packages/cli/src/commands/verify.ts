import { hasCode, type Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { type VerifyReport, verifySession } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { EXIT_FAILED, UsageError } from "../errors.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { checkRecords } from "../store/check-records.ts"
import { allIds } from "../store/resolve.ts"

export const verify: Command = defineCommand({
  name: "verify",
  summary: "read a whole session and report damage",
  args: ["ID?"],
  options: { all: { type: "boolean", help: "check every session of the store" } },
  notes: [
    "The exit status is 1 if a session is damaged. Warnings are printed and do not change it. Nothing is written.",
  ],
  examples: ["verify @last", "verify --all", "verify --all --json"],
  async run({ sessions, resolveSession, args: [ref], values, progress, callOptions }) {
    if ((ref === undefined) !== (values.all === true)) throw new UsageError("verify needs either an ID or --all.")
    const ids = ref === undefined ? await allIds(sessions) : [await resolveSession(ref)]
    const reports: Report[] = []
    for (const id of ids) {
      progress.update(() => `verifying ${reports.length + 1} of ${ids.length}: ${id}`)
      reports.push(...(await verifyOne(sessions, id, callOptions)))
    }
    const damaged = reports.filter((report) => report.damaged).length
    return {
      json: { reports, damaged: damaged > 0 },
      exit: damaged > 0 ? EXIT_FAILED : 0,
      text: () => [...reports.flatMap(reportLines), ...(ref === undefined ? [total(reports.length, damaged)] : [])],
    }
  },
})

interface Report extends VerifyReport {
  /** The reason why the log cannot be read as a session at all. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** Empty if the session was deleted in the meantime. */
async function verifyOne(sessions: Sessions, id: string, callOptions: CallOptions): Promise<Report[]> {
  try {
    const report = await verifySession(sessions, id, callOptions)
    const reported = new Set(
      report.diagnostics.filter(({ code }) => REPORTED_BY_CORE.has(code)).map(({ seq }) => seq ?? -1),
    )
    const invalid = await checkRecords(sessions, id, reported, callOptions)
    if (invalid.length === 0) return [report]
    return [{ ...report, damaged: true, diagnostics: [...report.diagnostics, ...invalid] }]
  } catch (error) {
    if (!hasCode(error, "corrupt") && !hasCode(error, "not_a_session")) {
      if ((await sessions.storage.head(id)) === undefined) return []
      throw error
    }
    const { code, message } = error
    // A log that has lost its lines has no head.
    const head = await sessions.storage.head(id).catch(() => ({ next: 0, bytes: 0 }))
    if (head === undefined) return []
    return [{ id, lines: head.next, bytes: head.bytes, diagnostics: [], damaged: true, error: { code, message } }]
  }
}

/** Diagnostics of core for a record that also fails its schema. */
const REPORTED_BY_CORE: ReadonlySet<string> = new Set(["invalid_record", "unparsable_line", "unknown_version"])

function reportLines({ id, lines, bytes, diagnostics, damaged, error }: Report): Line[] {
  const verdict = damaged ? styled("red", "damaged") : styled("green", "ok")
  const heading: Line = [verdict, ` ${id} (${formatCount(lines, "line")}, ${formatBytes(bytes)})`]
  const reason: Line[] = error === undefined ? [] : [["  ", styled("red", error.code), `  ${error.message}`]]
  return [heading, ...reason, ...diagnosticLines(diagnostics)]
}

function total(count: number, damaged: number): Line {
  return `${formatCount(count, "session")}, ${damaged} damaged`
}
