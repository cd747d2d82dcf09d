/** Reads the entries of a session together with the lines that they are stored in. */
import { hasCode, type Entry, type Session } from "@sessions/core"
import type { CallOptions, SessionStorage } from "@sessions/core/storage"
import { fieldsOf } from "../model/fields.ts"

export interface EntryLine {
  readonly seq: number
  readonly entry: Entry
  /** Undefined if the log has another version, whose lines are no entries, or if the line cannot be read. */
  readonly line: string | undefined
}

/** A line that holds no entry. */
export interface OtherLine {
  readonly seq: number
  readonly entry?: undefined
  readonly line: string
}

/** `seqs`: those of the entries, ascending; `end`: the number of lines. In log order, the header first. */
export async function* readLinesOf(
  storage: SessionStorage,
  session: Session,
  { seqs, end }: { readonly seqs: readonly number[]; readonly end: number },
  o: CallOptions,
): AsyncGenerator<EntryLine | OtherLine> {
  const lines = storedLines(storage, session.id, end, o)
  let line = await lines.next()
  let index = 0
  for await (const entry of session.entries({ from: 0, to: end }, o)) {
    const seq = seqs[index++]
    if (seq === undefined) return
    for (; line.done !== true && line.value.seq < seq; line = await lines.next()) yield line.value
    const stored = line.done !== true && line.value.seq === seq ? line.value.line : undefined
    if (stored !== undefined) line = await lines.next()
    yield { seq, entry, line: stored !== undefined && hasId(stored, entry.id) ? stored : undefined }
  }
  for (; line.done !== true; line = await lines.next()) yield line.value
}

async function* storedLines(
  storage: SessionStorage,
  id: string,
  end: number,
  o: CallOptions,
): AsyncGenerator<OtherLine, void> {
  try {
    for await (const { from, lines } of storage.read(id, { from: 0, to: end }, o))
      for (const [index, line] of lines.entries()) yield { seq: from + index, line }
  } catch (error) {
    // The entries behind the damage are read all the same; only their lines are missing.
    if (!hasCode(error, "corrupt")) throw error
  }
}

function hasId(line: string, id: string): boolean {
  try {
    return fieldsOf(JSON.parse(line))["id"] === id
  } catch {
    return false
  }
}
