import { hasCode } from "@sessions/core"
import type { CallOptions, Sessions, VerifyReport } from "@sessions/core"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { EXIT_FAILED, UsageError } from "../errors.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import type { Line } from "../output/lines.ts"
import { styled } from "../output/lines.ts"
import { checkRecords } from "../store/check-records.ts"

export const verify: Command = defineCommand({
  name: "verify",
  summary: "read everything of a session and say what is wrong with it",
  args: ["ID?"],
  options: { all: { type: "boolean", help: "every session of the store" } },
  notes: [
    "Exit status 1 where something is damaged; what merely deserves a word is said and leaves it at 0. Nothing is changed.",
  ],
  examples: ["verify @last", "verify --all", "verify --all --json"],
  async run({ sessions, session: resolve, args: [ref], values, progress, call }) {
    if ((ref === undefined) !== (values.all === true)) throw new UsageError("verify needs an ID, or --all without one.")
    const ids = ref === undefined ? await everyId(sessions) : [await resolve(ref)]
    const reports: Report[] = []
    for (const id of ids) {
      progress.update(() => `verifying ${reports.length + 1} of ${ids.length}: ${id}`)
      reports.push(...(await verifyOne(sessions, id, call)))
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
  /** It cannot be read as a session at all. */
  readonly error?: { readonly code: string; readonly message: string }
}

/** No report where the session was deleted meanwhile. */
async function verifyOne(sessions: Sessions, id: string, call: CallOptions): Promise<Report[]> {
  try {
    const report = await sessions.verify(id, call)
    const known = new Set(report.diagnostics.filter(({ code }) => SAID_ALREADY.has(code)).map(({ seq }) => seq ?? -1))
    const found = await checkRecords(sessions, id, known, call)
    if (found.length === 0) return [report]
    return [{ ...report, damaged: true, diagnostics: [...report.diagnostics, ...found] }]
  } catch (error) {
    const head = await sessions.storage.head(id)
    if (head === undefined) return []
    if (!hasCode(error, "corrupt") && !hasCode(error, "not_a_session")) throw error
    const { code, message } = error
    return [{ id, lines: head.next, bytes: head.bytes, diagnostics: [], damaged: true, error: { code, message } }]
  }
}

/** What core says of a record that no schema can take either. */
const SAID_ALREADY: ReadonlySet<string> = new Set(["invalid_record", "unparsable_line", "unknown_version"])

async function everyId(sessions: Sessions): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of sessions.storage.list()) ids.push(id)
  return ids
}

function reportLines({ id, lines, bytes, diagnostics, damaged, error }: Report): Line[] {
  const verdict = damaged ? styled("red", "damaged") : styled("green", "ok")
  const heading: Line = [verdict, ` ${id} (${formatCount(lines, "line")}, ${formatBytes(bytes)})`]
  const reason: Line[] = error === undefined ? [] : [["  ", styled("red", error.code), `  ${error.message}`]]
  return [heading, ...reason, ...diagnosticLines(diagnostics)]
}

function total(count: number, damaged: number): Line {
  return `${formatCount(count, "session")}, ${damaged === 0 ? "none" : damaged} damaged`
}
