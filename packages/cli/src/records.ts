/** What the public schemas say of the records that core has read: the second opinion of `verify`. */
import type { Diagnostic, Sessions, VerifyReport } from "@sessions/core"

/** The report with `invalid_record` for every record that the schemas refuse and that the report does not name yet. */
export async function checkRecords(sessions: Sessions, report: VerifyReport): Promise<VerifyReport> {
  // Loaded here: no other command needs the schemas.
  const { entrySchema, headerSchema } = await import("@sessions/schema")
  const known = new Set(report.diagnostics.filter(({ code }) => code === "invalid_record").map(({ seq }) => seq))
  const found: Diagnostic[] = []
  const check = (
    seq: number,
    record: object,
    schema: typeof entrySchema | typeof headerSchema,
    entryId?: string,
  ): void => {
    const issue = known.has(seq) ? undefined : schema.safeParse(record).error?.issues[0]
    if (issue === undefined) return
    const message = `${issue.path.length === 0 ? "The record" : issue.path.join(".")}: ${issue.message}.`
    found.push({ code: "invalid_record", seq, message, ...(entryId === undefined ? {} : { entryId }) })
  }
  const session = await sessions.open(report.id)
  try {
    check(0, session.header, headerSchema)
    for await (const entry of session.entries()) check(entry.seq, entry, entrySchema, entry.id)
  } finally {
    await session.close()
  }
  if (found.length === 0) return report
  return { ...report, damaged: true, diagnostics: [...report.diagnostics, ...found] }
}
