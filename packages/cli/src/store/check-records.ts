/** Checks the records of a log against the public schemas, for `verify`. */
import { FORMAT, VERSION } from "@sessions/core/format"
import type { Diagnostic, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"

/** One `invalid_record` for each record that fails its schema, except at the seqs in `reported`. */
export async function checkRecords(
  sessions: Sessions,
  id: string,
  reported: ReadonlySet<number>,
  callOptions: CallOptions,
): Promise<Diagnostic[]> {
  // Loaded on use: no other command needs the schemas.
  const { entrySchema, headerSchema } = await import("@sessions/schema")
  const found: Diagnostic[] = []
  for await (const { seq, record } of recordsOf(sessions, id, callOptions)) {
    const schema = seq === 0 ? headerSchema : entrySchema
    const issue = reported.has(seq) ? undefined : schema.safeParse(record).error?.issues[0]
    if (issue === undefined) continue
    const field = issue.path.length === 0 ? "The record" : issue.path.join(".")
    found.push({ code: "invalid_record", seq, message: `${field}: ${issue.message}.` })
  }
  return found
}

interface StoredRecord {
  readonly seq: number
  readonly record: unknown
}

/** The stored records; for an older log, the migrated ones. Lines that are not JSON are skipped, because core reports them. */
async function* recordsOf(sessions: Sessions, id: string, callOptions: CallOptions): AsyncIterable<StoredRecord> {
  let current = true
  for await (const { from, lines } of sessions.storage.read(id, {}, callOptions)) {
    for (const [index, line] of lines.entries()) {
      const stored = { seq: from + index, record: parsed(line) }
      if (stored.seq === 0) current = isCurrent(stored.record)
      if (!current) {
        yield* migratedRecords(sessions, id, callOptions)
        return
      }
      if (stored.record !== undefined) yield stored
    }
  }
}

async function* migratedRecords(sessions: Sessions, id: string, callOptions: CallOptions): AsyncIterable<StoredRecord> {
  const session = await sessions.open(id, callOptions)
  try {
    yield { seq: 0, record: session.header }
    for await (const record of session.entries({}, callOptions)) yield { seq: record.seq, record }
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
