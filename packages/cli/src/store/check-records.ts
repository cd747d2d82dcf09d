/** What the public schemas say of a log's records: the second opinion of `verify`. */
import { FORMAT, VERSION } from "@sessions/core"
import type { CallOptions, Diagnostic, Sessions } from "@sessions/core"

/** `invalid_record` for every record that the schemas refuse, except at the seqs that are known to be bad. */
export async function checkRecords(
  sessions: Sessions,
  id: string,
  known: ReadonlySet<number>,
  call: CallOptions,
): Promise<Diagnostic[]> {
  // Loaded here: no other command needs the schemas.
  const { entrySchema, headerSchema } = await import("@sessions/schema")
  const found: Diagnostic[] = []
  for await (const { seq, record } of recordsOf(sessions, id, call)) {
    const schema = seq === 0 ? headerSchema : entrySchema
    const issue = known.has(seq) ? undefined : schema.safeParse(record).error?.issues[0]
    if (issue === undefined) continue
    const place = issue.path.length === 0 ? "The record" : issue.path.join(".")
    found.push({ code: "invalid_record", seq, message: `${place}: ${issue.message}.` })
  }
  return found
}

interface Placed {
  readonly seq: number
  readonly record: unknown
}

/** The stored records by their place; of an older log what its migration makes of them. Lines that are no JSON are core's to report. */
async function* recordsOf(sessions: Sessions, id: string, call: CallOptions): AsyncIterable<Placed> {
  let current = true
  for await (const { from, lines } of sessions.storage.read(id, {}, call)) {
    for (const [index, line] of lines.entries()) {
      const placed = { seq: from + index, record: parsed(line) }
      if (placed.seq === 0) current = isCurrent(placed.record)
      if (!current) {
        yield* migratedRecords(sessions, id, call)
        return
      }
      if (placed.record !== undefined) yield placed
    }
  }
}

async function* migratedRecords(sessions: Sessions, id: string, call: CallOptions): AsyncIterable<Placed> {
  const session = await sessions.open(id, call)
  try {
    yield { seq: 0, record: session.header }
    for await (const record of session.entries({}, call)) yield { seq: record.seq, record }
  } finally {
    await session.close()
  }
}

function isCurrent(header: unknown): boolean {
  const { format, version } = (header ?? {}) as { format?: unknown; version?: unknown }
  return format === FORMAT && version === VERSION
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line.replace(/^\uFEFF/, ""))
  } catch {
    return undefined
  }
}
