/** The file that is imported: as lines, as often as needed, and what it is. */
import { SessionError } from "../format/errors.ts"
import { readLines } from "../format/jsonl.ts"
import type { ReadLine } from "../format/jsonl.ts"
import { parseLine } from "../format/line.ts"
import { FORMAT } from "../format/records.ts"
import { identifyLog } from "../format/identify.ts"
import { checkSignal } from "../storage/checks.ts"
import { checkIdentity } from "./identity.ts"
import type { ImportFormat, ImportSource } from "../session/types.ts"

export interface LineSource {
  /** The lines from the beginning. */
  lines(): AsyncIterable<ReadLine>
}

type Chunk = Uint8Array | string

/** A source that can be read once is kept in memory. */
export async function openSource(source: ImportSource, signal?: AbortSignal): Promise<LineSource> {
  if (typeof source === "function") return { lines: () => readLines(source()) }
  if (typeof source === "string" || source instanceof Uint8Array) return { lines: () => readLines([source]) }
  const chunks: Chunk[] = []
  for await (const chunk of source) {
    checkSignal(signal)
    // A copy: a source may fill the same buffer again.
    chunks.push(typeof chunk === "string" ? chunk : chunk.slice())
  }
  return { lines: () => readLines(chunks) }
}

/**
 * What the file is, from as few of its lines as tell it; the writer of an older log is left to its migration. Throws
 * `not_a_session` and `newer_version`.
 */
export async function identifySource(source: LineSource): Promise<"sessions" | "older"> {
  const first: string[] = []
  for await (const { line, problem } of source.lines()) {
    // A line that is no text cannot tell what the file is, but it is not nothing either.
    const text = line ?? UNREADABLE
    const { record } = parseLine(text)
    const tells = record !== undefined && record.type !== "title"
    // Of the lines before the header only the first is looked at, and title slots.
    if (tells || record !== undefined || (text.trim() !== "" && !first.some(isStray))) first.push(text)
    if (tells || problem === "too_long") break
  }
  const identity = identifyLog(first)
  checkIdentity(identity, "The file")
  return identity.kind
}

/** `not_a_session` where the caller named another format than the file has. */
export function checkFormat(asked: ImportFormat | undefined, format: string): void {
  const found = format === FORMAT ? "sessions" : format
  if (asked === undefined || asked === "auto" || asked === found) return
  throw new SessionError(
    "not_a_session",
    `The file is not in the format "${asked}", but in "${found}". Give that, or "auto".`,
  )
}

/** Begins what stands in for a line that is no text. It holds a line feed, so that no line of any file is the same. */
export const UNREADABLE = "\n#"

function isStray(line: string): boolean {
  return parseLine(line).record === undefined
}
