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

/**
 * The lines of a range, with their entries. Without the places of a tree, an entry belongs to the line that has its id; in a log of another
 * version it has the seq that reading gave it.
 */
export async function readRange(
  storage: SessionStorage,
  session: Session,
  { from, to }: { readonly from: number; readonly to: number },
  o: CallOptions,
): Promise<readonly EntryLine[]> {
  const lines: OtherLine[] = []
  for await (const line of storedLines(storage, session.id, from, to, o)) lines.push(line)
  const found: EntryLine[] = []
  let index = 0
  for await (const entry of session.entries({ from, to }, o)) {
    const at = lines.findIndex(({ line }, position) => position >= index && hasId(line, entry.id))
    const stored = at < 0 ? undefined : lines[at]
    if (stored !== undefined) index = at + 1
    found.push({ seq: stored?.seq ?? entry.seq, entry, line: stored?.line })
  }
  return found
}

/** `seqs`: those of the entries, ascending; `end`: the number of lines. In log order, the header first. */
export async function* readLinesOf(
  storage: SessionStorage,
  session: Session,
  { seqs, end }: { readonly seqs: readonly number[]; readonly end: number },
  o: CallOptions,
): AsyncGenerator<EntryLine | OtherLine> {
  const lines = storedLines(storage, session.id, 0, end, o)
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
  start: number,
  end: number,
  o: CallOptions,
): AsyncGenerator<OtherLine, void> {
  try {
    for await (const { from, lines } of storage.read(id, { from: start, to: end }, o))
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
