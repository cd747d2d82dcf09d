/**
 * Content of another program's log beyond the limits of a session. An import shortens it; a copy and a merge take it, so that replicas
 * converge; all of them report it, and so does `verify`.
 */
import type { BlobLimits } from "../../format/blobs.ts"
import { flatten, isTooDeep, levelsOf } from "../../format/deep-text.ts"
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import type { Chunk, Seq, SessionStorage } from "../../storage/contract.ts"
import { MAX_DEPTH } from "../../storage/depth.ts"
import { asLines, type ImportedLog, type LineToWrite } from "./log-to-write.ts"
import { type MetadataSize, noMetadata, refuseMetadata, withoutEffect } from "./metadata-size.ts"
import { toStoredLine } from "./stored-form.ts"

/** The log with texts in the place of values that are nested too deeply, and metadata beyond those of a session without effect. */
export function withinLimits(storage: SessionStorage, log: ImportedLog, limits: BlobLimits): ImportedLog {
  const shallow = async (given: LineToWrite, seq: Seq, report: Report | undefined): Promise<LineToWrite> => {
    if (!isTooDeep(given.line)) return given
    report?.(tooDeepAt(given.line, seq, "What is deeper was kept as a text, its JSON."))
    const line = flatten(given.line)
    const stored = await toStoredLine(storage, line, seq, limits)
    const puts = [given, stored].flatMap((one) => one?.putBlobs ?? [])
    const putBlobs = async (): Promise<void> => {
      for (const put of puts) await put()
    }
    return { line, entry: parseEntry(line, seq), ...stored, ...(puts.length > 0 && { putBlobs }) }
  }
  return {
    ...log,
    header: (lines) => {
      const header = log.header(lines)
      return isTooDeep(header) ? flatten(header) : header
    },
    async *lines(report) {
      const header = log.header()
      if (isTooDeep(header)) report?.(tooDeepAt(header, 0, "What is deeper was kept as a text, its JSON."))
      let seq = 1
      const metadata = noMetadata()
      for await (const some of log.lines(report)) {
        const lines = asLines(some)
        if (lines.some((line) => maySetMetadata(line) || isTooDeep(line.line)))
          for (const [index, line] of lines.entries())
            yield withFewMetadata(metadata, await shallow(line, seq + index, report), seq + index, report)
        else yield some
        seq += lines.length
      }
    },
  }
}

function maySetMetadata({ line, entry }: LineToWrite): boolean {
  return entry === undefined ? line.includes('"metadata"') : entry.type === "metadata"
}

function withFewMetadata(
  metadata: MetadataSize,
  given: LineToWrite,
  seq: Seq,
  report: Report | undefined,
): LineToWrite {
  const entry = maySetMetadata(given) ? (given.entry ?? parseEntry(given.line, seq)) : undefined
  const refused = entry && refuseMetadata(metadata, entry)
  if (refused === undefined) return given
  report?.(refused)
  const line = withoutEffect(given.line)
  return { line, entry: parseEntry(line, seq), ...(given.putBlobs !== undefined && { putBlobs: given.putBlobs }) }
}

/** Reports the lines that are nested too deeply, and passes all of them on. */
export async function* reportingLimits(
  chunks: AsyncIterable<Chunk>,
  report: Report,
): AsyncGenerator<Chunk, void, undefined> {
  for await (const chunk of chunks) {
    for (const [index, line] of chunk.lines.entries()) reportLimits(line, chunk.from + index, report)
    yield chunk
  }
}

/** Reports a line that is taken as it is. */
export function reportLimits(line: string, seq: Seq, report: Report | undefined): void {
  if (report !== undefined && isTooDeep(line)) report(tooDeepAt(line, seq, "It is kept as it is."))
}

function tooDeepAt(line: string, seq: Seq, effect: string): Diagnostic {
  const entryId = parseEntry(line, seq)?.id
  const subject = entryId === undefined ? `Line ${seq}` : `Entry ${entryId} (line ${seq})`
  const message = `${subject} has ${levelsOf(line)} levels of objects and lists; a record may have ${MAX_DEPTH}. ${effect}`
  return { code: "beyond_limit", seq, ...(entryId !== undefined && { entryId }), message }
}
