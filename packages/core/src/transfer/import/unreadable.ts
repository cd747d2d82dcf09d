/** Keeps a line of a file that cannot be a line of a log (not UTF-8, or torn) as an entry, so that an import loses nothing. */
import { toBase64 } from "../../format/base64.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import type { ReadLine } from "../../format/jsonl.ts"
import type { Entry } from "../../format/entry.ts"
import { isWellFormed } from "../../storage/utf8.ts"
import type { Seq } from "../../storage/contract.ts"

export const UNREADABLE_TYPE = "unreadable_line"

/** Above the index of any record, because migrations make ids from a time and the index of a record too. */
const FIRST_INDEX = 2 ** 48

export interface Unreadable {
  readonly bytes: Uint8Array
  /** Offset in the file. */
  readonly at: number
  /** The file ends in this line, without an LF: its writing was interrupted. */
  readonly torn: boolean
}

/** Undefined for a line that a log can hold, and for one that is too long to read. */
export function unreadableOf(read: ReadLine): Unreadable | undefined {
  const { at, terminated } = read
  if (read.problem === "not_utf8") return { bytes: read.raw, at, torn: !terminated }
  if (read.problem === "too_long" || terminated || read.line.trim() === "" || isJson(read.line)) return undefined
  return { bytes: new TextEncoder().encode(read.line), at, torn: true }
}

/** The entry that keeps the line, the same at each reading. Its type adds nothing to the context. */
export function unreadableEntry(
  { bytes, at }: Unreadable,
  position: { readonly seq: Seq; readonly parentId: string | null; readonly timestamp: string },
): Entry {
  const time = Date.parse(position.timestamp)
  return {
    type: "custom",
    id: ulidAt(Number.isNaN(time) ? 0 : time, FIRST_INDEX + position.seq),
    parentId: position.parentId,
    seq: position.seq,
    timestamp: position.timestamp,
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
        message: `The file ends in ${bytes.length} bytes of an incomplete line; ${kept}.`,
      }
    : { code: "unparsable_line", seq, message: `The line at byte ${at} of the file is not UTF-8; ${kept}.` }
}

/** Blank lines are dropped: storages refuse them. */
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
