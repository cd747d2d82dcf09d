/** From lines to the records of a log, whatever its version. Nothing is lost: a line that is no record stays as it is. */
import type { Diagnostic } from "../../format/diagnostics.ts"
import { isEntry } from "../../format/guards.ts"
import { type LogRecord, parseLine } from "../../format/line.ts"
import type { LogStart } from "../../format/identify.ts"
import { isBlank, shown } from "../../format/identify.ts"
import type { RawLine } from "./log.ts"

export interface ReadRecords {
  readonly records: readonly (LogRecord | RawLine)[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Everything but the title slot and the header. `problemOf` says why a record cannot be an entry of the log's version, as the
 * rest of a sentence.
 */
export function readRecords(
  lines: readonly string[],
  start: LogStart,
  problemOf: (record: LogRecord) => string | undefined,
): ReadRecords {
  const records: (LogRecord | RawLine)[] = []
  const diagnostics: Diagnostic[] = []
  const keepRaw = (raw: string, code: Diagnostic["code"], problem: string): void => {
    records.push({ raw })
    diagnostics.push({ code, seq: records.length, message: `${problem} It is kept as it is.` })
  }

  for (const at of start.strays) {
    keepRaw(lines[at] ?? "", "unparsable_line", "A line before the header is no record.")
  }
  for (let at = start.next; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const { record, problem } = parseLine(line)
    if (record === undefined) {
      if (!isBlank(line)) keepRaw(line, "unparsable_line", problem)
      continue
    }
    const why = problemOf(record)
    if (why === undefined) records.push(record)
    else keepRaw(line, "invalid_record", `A record of type ${shown(record.type)} ${why}.`)
  }
  return { records, diagnostics }
}

export function currentProblem(record: LogRecord): string | undefined {
  return isEntry(record) ? undefined : "lacks what every entry has: an id and a parent"
}

/** Before version 2 entries had no ids and no parents. What later became certain may be missing; what is there must fit. */
export function olderProblem(record: LogRecord, needsId: boolean): string | undefined {
  const { id, parentId, timestamp } = record
  if (record.type === "session") return "is a second header"
  if (id === undefined ? needsId : typeof id !== "string" || id === "") return "has no id"
  if (parentId !== undefined && parentId !== null && typeof parentId !== "string") return "has no parent's id"
  const timed = timestamp === undefined || timestamp === null || ["string", "number"].includes(typeof timestamp)
  return timed ? undefined : "has no timestamp"
}
