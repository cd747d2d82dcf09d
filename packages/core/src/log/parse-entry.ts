/** Parses stored lines to slots of an {@link EntryLog}. A line that is not an entry becomes an empty slot and is reported. */
import type { Report } from "../format/diagnostics.ts"
import { isEntry } from "../format/entry-problems.ts"
import { parseLine } from "../format/line.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntrySlot } from "./entry-log.ts"

/**
 * The entry of a line, with its actual `seq`. Line 0 is the header and never an entry. Most readers give no `report`: opening and
 * verifying report the damaged lines.
 */
export function parseEntry(line: string, seq: Seq, report: Report = ignore): EntrySlot {
  if (seq === 0) return undefined
  const { record, problem } = parseLine(line)
  if (problem !== undefined) {
    report({ code: "unparsable_line", seq, message: `Line ${seq} was skipped. ${problem}` })
    return undefined
  }
  if (!isEntry(record)) {
    const what = `type ${JSON.stringify(record.type.slice(0, 40))}`
    report({
      code: "unparsable_line",
      seq,
      message: `Line ${seq} was skipped: its record (${what}) is not an entry of a session.`,
    })
    return undefined
  }
  if (record.seq === seq) return record
  const stored = record.seq === undefined ? "no seq" : `the seq ${JSON.stringify(record.seq).slice(0, 40)}`
  const message = `Line ${seq} has ${stored}; its position in the log is used.`
  report({ code: "seq_mismatch", seq, entryId: record.id, message })
  return { ...record, seq }
}

function ignore(): void {}
