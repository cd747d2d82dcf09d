/** What stands in a file of lines and cannot be a line of a log. It is kept as an entry, so that nothing of the file is lost. */
import { toBase64 } from "../format/base64.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { ulidAt } from "../format/ids.ts"
import type { ReadLine } from "../format/jsonl.ts"
import type { Entry } from "../format/records.ts"
import { isWellFormed } from "../storage/checks.ts"
import type { Seq } from "../storage/contract.ts"

export const UNREADABLE_TYPE = "unreadable_line"

/** Migrations make ids of a time and a record's place, too; no log has as many records as this. */
const FIRST_INDEX = 2 ** 48

export interface Unreadable {
  readonly bytes: Uint8Array
  /** Offset in the file. */
  readonly at: number
  /** What follows the file's last LF, cut off in its writing. */
  readonly torn: boolean
}

/** The line where it cannot be one: not UTF-8, or the torn end of the file. */
export function unreadableOf(read: ReadLine): Unreadable | undefined {
  const { at, terminated } = read
  if (read.problem === "not_utf8") return { bytes: read.raw, at, torn: !terminated }
  if (read.problem === "too_long" || terminated || read.line.trim() === "" || isJson(read.line)) return undefined
  return { bytes: new TextEncoder().encode(read.line), at, torn: true }
}

/** The entry that keeps it, the same at each reading. It has no context and moves no branch. */
export function unreadableEntry(
  { bytes, at }: Unreadable,
  place: { readonly seq: Seq; readonly parentId: string | null; readonly timestamp: string },
): Entry {
  const time = Date.parse(place.timestamp)
  return {
    type: "custom",
    id: ulidAt(Number.isNaN(time) ? 0 : time, FIRST_INDEX + place.seq),
    parentId: place.parentId,
    seq: place.seq,
    timestamp: place.timestamp,
    customType: UNREADABLE_TYPE,
    data: { base64: toBase64(bytes), at },
  }
}

export function unreadableDiagnostic({ bytes, at, torn }: Unreadable, seq: Seq): Diagnostic {
  const kept = `its bytes are kept in an entry of customType ${JSON.stringify(UNREADABLE_TYPE)}`
  return torn
    ? {
        code: "torn_tail",
        seq,
        bytes: bytes.length,
        message: `The file ends in ${bytes.length} bytes of a line that was never finished; ${kept}.`,
      }
    : { code: "unparsable_line", seq, message: `The line at byte ${at} of the file is not UTF-8; ${kept}.` }
}

/** A blank line holds nothing, and a log cannot have it. */
export function blankDiagnostic(count: number, firstAt: number): Diagnostic {
  const what = count === 1 ? "A blank line was" : `${count} blank lines were`
  return {
    code: "unparsable_line",
    message: `${what} left out, at byte ${firstAt} of the file${count === 1 ? "" : " and after it"}.`,
  }
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line.startsWith("\uFEFF") ? line.slice(1) : line)
    return isWellFormed(line)
  } catch {
    return false
  }
}
