/** Imports a session from a file: a log of this format with its lines unchanged, an older log migrated, another format by an importer. */
import type { BlobLimits } from "../../format/blobs.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import { SessionError } from "../../format/errors.ts"
import { parseLine } from "../../format/line.ts"
import { type Extensions, nameProblem } from "../../format/names.ts"
import { type NewEntry, normalizeNewEntry, normalizeWithAnyNames, placeEntry } from "../../format/new-entry.ts"
import type { Entry } from "../../format/entry.ts"
import type { Header } from "../../format/header.ts"
import { restoreEntries } from "../../log/blobs.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import { type Hooks, runAppendHooks } from "../../session/hooks.ts"
import type { ImportOptions, ImportResult, ImportSource } from "../types.ts"
import { StorageError } from "../../storage/errors.ts"
import { rejectOnAbort, signalOf } from "../../storage/signals.ts"
import type { CallOptions, Seq, SessionStorage } from "../../storage/contract.ts"
import { otherLogToWrite } from "./other-format.ts"
import { olderLogToWrite } from "./older-format.ts"
import { currentLogToWrite } from "./current-format.ts"
import { givenBlobs } from "./given-blobs.ts"
import { type ChunkSource, checkFormat, identifySource, linesOf, openSource } from "./source.ts"
import { toStoredForm } from "../write/stored-form.ts"
import { asLines, type ImportedLog, type LineToWrite } from "../write/log-to-write.ts"
import { withinLimits } from "../write/within-limits.ts"
import { writeLog } from "../write/write-log.ts"

export interface ImportSettings {
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly hooks: readonly Hooks[]
  readonly extensions: Extensions | undefined
  readonly now: () => number
}

/**
 * Writes the session under this id; reads a large file twice, unless its importer holds the lines. Errors: `not_a_session` and `newer_version` for a file that cannot be
 * imported, `too_large` before anything is written, `exists` if another session has the id. The same call completes an import that
 * was interrupted. `append` hooks see each entry; if one throws, nothing is written.
 */
export async function importStored(
  storage: SessionStorage,
  source: ImportSource,
  id: string,
  settings: ImportSettings,
  o: ImportOptions = {},
): Promise<{ readonly result: ImportResult; readonly header: Header }> {
  const found = await logToWrite(storage, await openSource(source, o.signal), id, settings, o)
  const log = withHooks(storage, withinLimits(storage, found, settings.blobs), settings, signalOf(o))
  const diagnostics: Diagnostic[] = []
  const written = await writeLog(storage, log, {
    maxSessionBytes: settings.maxSessionBytes,
    report: (diagnostic) => diagnostics.push(diagnostic),
    onProgress: o.onProgress,
    hold: typeof o.from === "object" ? o.from.hold : undefined,
    now: settings.now,
    ...signalOf(o),
  })
  const result = { id, lines: written.lines, from: log.from, diagnostics }
  return { result, header: parseLine(written.header).record as unknown as Header }
}

async function logToWrite(
  storage: SessionStorage,
  chunks: ChunkSource,
  id: string,
  { blobs }: ImportSettings,
  o: ImportOptions,
): Promise<ImportedLog> {
  const given = givenBlobs(o.blobs)
  if (typeof o.from === "object") return otherLogToWrite(storage, chunks, o.from, id, blobs, given, o)
  if (o.beside !== undefined) {
    throw new SessionError("invalid", "`beside` is for an importer: give one as `from`, or leave `beside` out.")
  }
  const lines = linesOf(chunks)
  const header = await identifySource(lines)
  const found =
    header === undefined
      ? await olderLogToWrite(storage, lines, id, blobs, given)
      : currentLogToWrite(storage, lines, header, id, blobs, given)
  checkFormat(o.from, found.from.format)
  return found
}

/**
 * Runs the `append` hooks over the entries of the log, so that they filter an import as they filter appends. An entry that no hook
 * changes keeps its line. The lines are read twice, but the hooks run once for each entry: their results are kept.
 */
function withHooks(storage: SessionStorage, log: ImportedLog, settings: ImportSettings, o: CallOptions): ImportedLog {
  if (settings.hooks.every(({ append }) => append === undefined)) return log
  /** By seq; undefined for an unchanged entry. */
  const results = new Map<Seq, LineToWrite | undefined>()
  return {
    ...log,
    async *lines(report) {
      let seq = 0
      for await (const some of log.lines(report)) {
        for (const line of asLines(some)) {
          seq++
          if (!results.has(seq)) results.set(seq, await runHooks(storage, log.id, line, seq, settings, o))
          yield results.get(seq) ?? line
        }
      }
    },
  }
}

/** Undefined if the hooks leave the entry unchanged. */
async function runHooks(
  storage: SessionStorage,
  session: string,
  line: LineToWrite,
  seq: Seq,
  { hooks, blobs: limits, extensions }: ImportSettings,
  o: CallOptions,
): Promise<LineToWrite | undefined> {
  const read = line.entry ?? parseEntry(line.line, seq)
  if (read === undefined) return undefined
  // Hooks see the content; only a blob that is missing stays a reference.
  const [entry] = (await restoreEntries(storage, [read], o)).entries as [Entry]
  const { parentId, seq: _, writtenAt, blobs, ...given } = entry
  const before = JSON.stringify(given)
  const hooked = runAppendHooks(hooks, [JSON.parse(before) as NewEntry], session)
  // A hook may hang. Hooks run before anything is written.
  const toError = (cause: unknown): StorageError =>
    new StorageError("aborted", `The import of ${session} was aborted. Nothing was written.`, { session, cause })
  const [changed] = (await rejectOnAbort(hooked, o.signal, toError)) as [NewEntry]
  if (JSON.stringify(changed) === before) return undefined
  // Other entries refer to this one, so it keeps its id, position and time.
  const { id: __, timestamp: ___, ...payload } = changed as unknown as Readonly<Record<string, unknown>>
  const position = { id: entry.id, parentId, seq, timestamp: entry.timestamp }
  // An entry of the file may have any names, and so may its replacement.
  const normalize = nameProblem(given, extensions) === undefined ? normalizeNewEntry : normalizeWithAnyNames
  const result = placeEntry(normalize(payload as unknown as NewEntry, extensions), position)
  const kept = { ...(writtenAt === undefined ? {} : { writtenAt }), ...(blobs === undefined ? {} : { blobs }) }
  return toStoredForm(storage, { ...result, ...kept }, seq, limits)
}
