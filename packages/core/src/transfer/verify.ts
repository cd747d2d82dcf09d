/** Verifies a session: reads its complete log and reports every defect and oddity as a diagnostic. */
import type { Diagnostic, DiagnosticCode } from "../format/diagnostics.ts"
import { headerProblem } from "../format/header.ts"
import type { Header } from "../format/header.ts"
import { identifyLog } from "../format/identify.ts"
import { signalOf } from "../storage/checks.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { EntryLog } from "../log/entry-log.ts"
import { loadOther } from "./older/other-log.ts"
import { loadLog, notFound, readLines } from "../log/loaded-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { stubOf } from "./whole-log.ts"
import { BlobCheck } from "./verify-blobs.ts"
import { checkEntry, checkLog } from "./verify-log.ts"
import type { VerifyReport } from "../session/types.ts"

/**
 * Reads every line, without keeping the content of messages in memory. A log of an older version is verified as its migration;
 * for a log of a later version only its version and a torn tail are reported. Errors: `not_found`, `not_a_session`.
 */
export async function verifySession(storage: SessionStorage, id: string, o: CallOptions = {}): Promise<VerifyReport> {
  const signal = signalOf(o)
  const head = await storage.head(id, signal)
  if (head === undefined) throw notFound(storage, id)
  const [first = ""] = await readLines(storage, id, { from: 0, to: 1 }, signal)
  const identity = identifyLog([first])
  const diagnostics =
    identity.kind === "sessions"
      ? await verifyCurrent(storage, id, head, identity.header, signal)
      : await verifyOther(storage, id, signal)
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

/** Diagnostics about the origin of a log, or about the limits of this program. */
const HARMLESS: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  "diverged",
  "repaired",
  "left_out",
  "does_not_fit",
  "repeated_call",
  "unknown_version",
])

async function verifyCurrent(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  header: Header,
  o: CallOptions,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): unknown => diagnostics.push(diagnostic)
  const blobs = new BlobCheck(storage, report, o)
  const log = new EntryLog()
  const problem = headerProblem(header)
  if (problem !== undefined) report({ code: "invalid_record", seq: 0, message: `The header is invalid: ${problem}` })
  await blobs.checkHeader(header)
  for await (const { from, lines } of storage.read(id, { from: 0, to: head.next }, o)) {
    for (const [index, line] of lines.entries()) {
      const seq = from + index
      const entry = parseEntry(line, seq, report)
      if (entry !== undefined) {
        checkEntry(log, entry, seq, report)
        await blobs.check(entry, seq)
      }
      log.push(entry === undefined ? undefined : stubOf(entry, seq))
    }
  }
  checkLog(log, header, header.origin?.lines ?? 0, report)
  checkLength(head, log, header, report)
  return diagnostics
}

function checkLength(head: HeadInfo, log: EntryLog, header: Header, report: (diagnostic: Diagnostic) => unknown): void {
  const { torn = 0, next } = head
  if (torn > 0)
    report({
      code: "torn_tail",
      bytes: torn,
      message: `The log ends in ${torn} bytes of an incomplete line.`,
    })
  const expected = header.origin?.lines ?? 0
  if (log.end < next) {
    const message = `The storage reports ${next} lines, but returns ${log.end}.`
    report({ code: "incomplete", message })
  } else if (next < expected) {
    const message = `The log has ${next} of ${expected} lines: the import, fork or copy that created it was interrupted. Repeat it to complete the log.`
    report({ code: "incomplete", message })
  }
}

/** The diagnostics of the migration, and those of the migrated entries. */
async function verifyOther(storage: SessionStorage, id: string, o: CallOptions): Promise<Diagnostic[]> {
  const { header, log, diagnostics, newer } = await loadLog(storage, id, loadOther, o)
  // Lines that this program cannot parse may be valid in the later version.
  if (newer !== undefined) return diagnostics.filter(({ code }) => code === "unknown_version" || code === "torn_tail")
  const found = [...diagnostics]
  const report = (diagnostic: Diagnostic): unknown => found.push(diagnostic)
  const blobs = new BlobCheck(storage, report, { ...o, foreign: true })
  const seen = new EntryLog()
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry !== undefined) {
      checkEntry(seen, entry, seq, report)
      await blobs.check(entry, seq)
    }
    seen.push(entry)
  }
  checkLog(seen, header, Number.MAX_SAFE_INTEGER, report)
  return found
}
