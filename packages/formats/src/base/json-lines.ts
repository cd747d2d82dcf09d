/** Reads a file of JSON lines from pieces of text, with line numbers. Lines that cannot be read are reported and kept as text. */
import type { Note } from "./format.ts"
import { type Fields, isObject } from "./values.ts"

export type SourceLine = JsonLine | UnreadableLine

export interface JsonLine {
  /** Counts from 1. */
  readonly at: number
  readonly value: Fields
}

/** A line that is no JSON object, or the cut last line of a file. */
export interface UnreadableLine {
  readonly at: number
  readonly value?: undefined
  readonly text: string
  readonly problem: "torn_tail" | "unparsable_line"
}

/** `customType` of the entry that keeps a line that cannot be read; the same name as for logs of core. */
export const UNREADABLE = "unreadable_line"

/**
 * The lines of a file, some at a time: a call of an async iterator for each line would cost as much as parsing it. A line
 * ends with LF; the last one need not, and is torn if it is no JSON. Blank lines are left out and reported once.
 */
export async function* readJsonLines(
  main: AsyncIterable<string>,
  note: Note,
): AsyncGenerator<readonly SourceLine[], void, undefined> {
  /** The pieces of a line that has not ended. */
  let open: string[] = []
  let at = 0
  let blank = 0
  const take = (text: string, isLast: boolean, lines: SourceLine[]): void => {
    at++
    const line = parseLine(text, at, isLast)
    if (line === undefined) {
      blank++
      return
    }
    if (line.value === undefined) note(unreadableDiagnostic(line))
    lines.push(line)
  }
  for await (const piece of main) {
    let lines: SourceLine[] = []
    let from = 0
    for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", from)) {
      const rest = piece.slice(from, end)
      take(open.length === 0 ? rest : open.join("") + rest, false, lines)
      if (open.length > 0) open = []
      from = end + 1
      if (lines.length < BATCH) continue
      yield lines
      lines = []
    }
    if (from < piece.length) open.push(piece.slice(from))
    if (lines.length > 0) yield lines
  }
  const lines: SourceLine[] = []
  if (open.length > 0) take(open.join(""), true, lines)
  if (blank > 0) note({ code: "unparsable_line", message: `${blank} blank lines of the file were left out.` })
  if (lines.length > 0) yield lines
}

/** A piece may be the whole file. */
const BATCH = 256

/** Undefined for a blank line. */
function parseLine(text: string, at: number, isLast: boolean): SourceLine | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { at, value }
  } catch {
    if (text.trim() === "") return undefined
  }
  return { at, text, problem: isLast ? "torn_tail" : "unparsable_line" }
}

function unreadableDiagnostic({ at, text, problem }: UnreadableLine): Parameters<Note>[0] {
  const kept = `its text is kept in an entry of customType ${JSON.stringify(UNREADABLE)}`
  if (problem === "unparsable_line") {
    return { code: problem, message: `Line ${at} of the file is not a JSON object; ${kept}.` }
  }
  const bytes = new TextEncoder().encode(text).length
  return { code: problem, bytes, message: `The file ends in line ${at}, which is incomplete; ${kept}.` }
}
