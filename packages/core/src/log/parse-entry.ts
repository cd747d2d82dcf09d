/** From stored lines to slots of an {@link EntryLog}. Nothing is dropped: a line that is no entry keeps its place and is told of. */
import type { Diagnostic } from "../format/diagnostics.ts"
import { isEntry } from "../format/guards.ts"
import { parseLine } from "../format/line.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntrySlot } from "./entry-log.ts"

/** The entry of a line, its `seq` set to its place. `seq` 0 is the header's place; it is never an entry. */
export function parseEntry(line: string, seq: Seq, note: (diagnostic: Diagnostic) => void): EntrySlot {
  if (seq === 0) return undefined
  const { record, problem } = parseLine(line)
  if (problem !== undefined) {
    note({ code: "unparsable_line", seq, message: `Line ${seq} was skipped. ${problem}` })
    return undefined
  }
  if (!isEntry(record)) {
    const what = `type ${JSON.stringify(record.type.slice(0, 40))}`
    note({
      code: "unparsable_line",
      seq,
      message: `Line ${seq} was skipped: its record (${what}) is no entry of a session.`,
    })
    return undefined
  }
  if (record.seq === seq) return record
  const said = record.seq === undefined ? "says no seq" : `says seq ${JSON.stringify(record.seq).slice(0, 40)}`
  note({ code: "seq_mismatch", seq, entryId: record.id, message: `Line ${seq} ${said}; its place counts.` })
  return { ...record, seq }
}
