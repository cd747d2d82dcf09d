import type { Sessions, VerifyReport } from "@sessions/core"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { diagnosticLines } from "../diagnostics.ts"
import { EXIT_FAILED, UsageError } from "../errors.ts"
import { formatBytes, formatCount } from "../format.ts"
import type { Line } from "../output.ts"
import { styled } from "../output.ts"
import { checkRecords } from "../records.ts"

export const verify: Command = defineCommand({
  name: "verify",
  summary: "read everything of a session and say what is wrong with it",
  args: ["ID?"],
  options: { all: { type: "boolean", help: "every session of the store" } },
  notes: [
    "Exit status 1 where something is damaged; what merely deserves a word is said and leaves it at 0. Nothing is changed.",
  ],
  examples: ["verify @last", "verify --all", "verify --all --json"],
  async run({ sessions, session: resolve, args: [ref], values, progress, io }) {
    if ((ref === undefined) !== (values.all === true)) throw new UsageError("verify needs an ID, or --all without one.")
    const ids = ref === undefined ? await everyId(sessions) : [await resolve(ref)]
    const reports: VerifyReport[] = []
    for (const id of ids) {
      io.signal?.throwIfAborted()
      progress.update(() => `verifying ${reports.length + 1} of ${ids.length}: ${id}`)
      reports.push(await checkRecords(sessions, await sessions.verify(id)))
    }
    const damaged = reports.filter((report) => report.damaged).length
    return {
      json: { reports, damaged: damaged > 0 },
      exit: damaged > 0 ? EXIT_FAILED : 0,
      text: () => [...reports.flatMap(reportLines), ...(ref === undefined ? [total(reports.length, damaged)] : [])],
    }
  },
})

async function everyId(sessions: Sessions): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of sessions.storage.list()) ids.push(id)
  return ids
}

function reportLines({ id, lines, bytes, diagnostics, damaged }: VerifyReport): Line[] {
  const verdict = damaged ? styled("red", "damaged") : styled("green", "ok")
  return [[verdict, ` ${id} (${formatCount(lines, "line")}, ${formatBytes(bytes)})`], ...diagnosticLines(diagnostics)]
}

function total(count: number, damaged: number): Line {
  return `${formatCount(count, "session")}, ${damaged === 0 ? "none" : damaged} damaged`
}
