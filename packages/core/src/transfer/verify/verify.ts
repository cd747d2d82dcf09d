/** Verifies a session: reads its complete log and reports every defect and oddity as a diagnostic. */
import type { Diagnostic, DiagnosticCode, Report } from "../../format/diagnostics.ts"
import { hasCode } from "../../format/errors.ts"
import { FORMAT, type Header, headerProblem, VERSION } from "../../format/header.ts"
import type { Entry } from "../../format/entry.ts"
import { incompleteLog, type LoadedLog, loadLog, notFoundError, tornTail } from "../../log/load.ts"
import { loadOther } from "../../log/load-other-version.ts"
import { settledLines } from "../../log/tips.ts"
import type { VerifyReport } from "../types.ts"
import { signalOf } from "../../storage/signals.ts"
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../../storage/contract.ts"
import { readHeader } from "../headers.ts"
import { piLogs } from "../migrate/pi-logs.ts"
import { backupHashes, checkEntry, checkLog, hashesOf } from "./check-entries.ts"
import { addCalls, checkResults, noCalls } from "./check-results.ts"
import { readPastDamage } from "./past-damage.ts"
import { readStubs } from "../read-log.ts"
import { addMetadata, checkMetadata, noMetadata } from "../write/metadata-size.ts"
import { reportingLimits } from "../write/within-limits.ts"

/**
 * Reads every line, without keeping the content of messages in memory. Lines that cannot be read are reported, and those after them
 * checked. A log of an older version is verified as its migration, unless it has such lines; for a log of a later version only its
 * version and a torn tail are reported. Errors: `not_found`, `not_a_session`, `corrupt` if the storage cannot say where the log ends.
 */
export async function verifyStored(storage: SessionStorage, id: string, o: CallOptions = {}): Promise<VerifyReport> {
  const signal = signalOf(o)
  const { head, header } = await readStart(storage, id, signal)
  const found =
    header === "other"
      ? await verifyOther(storage, id, head, signal)
      : await verifyCurrent(storage, id, head, header, signal)
  const diagnostics = [...found, ...cutRecords(head)]
  return {
    id,
    lines: head.next,
    bytes: head.bytes,
    diagnostics: diagnostics.toSorted(
      (a, b) => (a.seq ?? Number.POSITIVE_INFINITY) - (b.seq ?? Number.POSITIVE_INFINITY),
    ),
    damaged: diagnostics.some(({ code }) => !HARMLESS.has(code)),
  }
}

/** An editor that took the last line feed away has taken a record out of the log that may have been acknowledged. */
function cutRecords({ cut = [] }: HeadInfo): Diagnostic[] {
  return cut.map((message) => ({ code: "torn_tail", message }))
}

/** The header: undefined if its line cannot be read, "other" if it is not that of a log of this version. */
async function readStart(
  storage: SessionStorage,
  id: string,
  o: CallOptions,
): Promise<{ readonly head: HeadInfo; readonly header: Header | "other" | undefined }> {
  try {
    const { head, header = "other" } = await readHeader(storage, id, { ...o, cut: true })
    return { head, header }
  } catch (error) {
    if (!hasCode(error, "corrupt")) throw error
    const head = await storage.head(id, o)
    if (head === undefined) throw notFoundError(storage, id)
    return { head, header: undefined }
  }
}

/** Diagnostics about the origin of a log, or about the limits of this program. */
const HARMLESS: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  "diverged",
  "repaired",
  "left_out",
  "unknown_name",
  "does_not_fit",
  "shortened",
  "summarized",
  "repeated_call",
  "foreign_result",
  "much_metadata",
  "beyond_limit",
  "unknown_version",
])

async function verifyCurrent(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  header: Header | undefined,
  o: CallOptions,
): Promise<Diagnostic[]> {
  const diagnostics = tornTail(head)
  const report = (diagnostic: Diagnostic): unknown => diagnostics.push(diagnostic)
  const checkBlobs = blobCheck(storage, report, o)
  const known = header ?? { type: "session", format: FORMAT, version: VERSION, id, timestamp: "" }
  const problem = header === undefined ? undefined : headerProblem(header)
  if (problem !== undefined) report({ code: "invalid_record", seq: 0, message: `The header is invalid: ${problem}` })
  await checkBlobs(backupHashes(known), "The header, as a backup,", { seq: 0 })
  const lines = reportingLimits(readPastDamage(storage, id, head.next, report, o), report)
  const metadata = noMetadata()
  const calls = noCalls()
  const { log, end } = await readStubs(lines, report, async (entry, before) => {
    checkEntry(before, entry, report)
    addMetadata(metadata, entry)
    addCalls(calls, entry)
    await checkBlobs(hashesOf(entry), subjectOf(entry), { seq: entry.seq, entryId: entry.id })
  })
  checkLog(log, known, settledLines(known), report)
  checkMetadata(metadata, report)
  checkResults(log, calls, report)
  if (end < head.next) {
    report({ code: "incomplete", message: `The storage reports ${head.next} lines, but returns ${end}.` })
  } else diagnostics.push(...incompleteLog(head, known))
  return diagnostics
}

/** The diagnostics of the migration, and those of the migrated entries. */
async function verifyOther(storage: SessionStorage, id: string, head: HeadInfo, o: CallOptions): Promise<Diagnostic[]> {
  let loaded: LoadedLog
  try {
    loaded = await loadLog(storage, id, loadOther([piLogs]), o)
  } catch (error) {
    if (!hasCode(error, "corrupt")) throw error
    return damageOf(storage, id, head, o)
  }
  const { header, log, diagnostics, newer } = loaded
  // Lines that this program cannot parse may be valid in the later version.
  if (newer !== undefined) return diagnostics.filter(({ code }) => code === "unknown_version" || code === "torn_tail")
  const report = (diagnostic: Diagnostic): unknown => diagnostics.push(diagnostic)
  const checkBlobs = blobCheck(storage, report, o)
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    checkEntry(log, entry, report)
    await checkBlobs(hashesOf(entry, { foreign: true }), subjectOf(entry), { seq, entryId: entry.id })
  }
  checkLog(log, header, log.end, report)
  return diagnostics
}

/** A log of another version with a damaged line cannot be migrated: only the damage is reported. */
async function damageOf(storage: SessionStorage, id: string, head: HeadInfo, o: CallOptions): Promise<Diagnostic[]> {
  const found = tornTail(head)
  const report = (diagnostic: Diagnostic): unknown => found.push(diagnostic)
  for await (const _ of readPastDamage(storage, id, head.next, report, o));
  return found
}

function subjectOf(entry: Entry): string {
  return `Entry ${entry.id} (line ${entry.seq})`
}

type BlobCheck = (
  hashes: readonly string[],
  subject: string,
  at: { readonly seq: Seq; readonly entryId?: string },
) => Promise<void>

/** Checks that the storage has the blobs that a record refers to. Looks each blob up once. */
function blobCheck(storage: SessionStorage, report: Report, o: CallOptions): BlobCheck {
  const known = new Map<string, boolean>()
  return async (hashes, subject, at) => {
    for (const hash of new Set(hashes)) {
      const has = known.get(hash) ?? (await storage.blobs.has(hash, o))
      known.set(hash, has)
      const message = `${subject} refers to the blob ${hash}, which is not in ${storage.description}.`
      if (!has) report({ code: "missing_blob", ...at, message })
    }
  }
}
