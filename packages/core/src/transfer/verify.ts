/** Reads a whole log and says everything that is to be said of it. */
import type { Diagnostic, DiagnosticCode } from "../format/diagnostics.ts"
import { headerProblem } from "../format/guards.ts"
import type { Header } from "../format/records.ts"
import { identifyLog } from "../format/identify.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { EntryLog } from "../log/entry-log.ts"
import { loadOther } from "./older/other-log.ts"
import { loadLog, notFound, readLines } from "../log/loaded-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { stubOf } from "./stub.ts"
import { BlobCheck } from "./verify-blobs.ts"
import { checkEntry, checkLog } from "./verify-log.ts"
import type { VerifyReport } from "../session/types.ts"

/**
 * Reads every line, without holding what the messages say. A log of an older version is looked at as its migration makes it; of
 * one that is newer than this program only that is said. `not_found`, `not_a_session`.
 */
export async function verifySession(storage: SessionStorage, id: string, o: CallOptions = {}): Promise<VerifyReport> {
  const signal = o.signal === undefined ? {} : { signal: o.signal }
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

/** They say how a log came about, or that this program cannot tell. */
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
  const note = (diagnostic: Diagnostic): unknown => diagnostics.push(diagnostic)
  const blobs = new BlobCheck(storage, note, o)
  const log = new EntryLog()
  const problem = headerProblem(header)
  if (problem !== undefined) note({ code: "invalid_record", seq: 0, message: `The header is not whole: ${problem}` })
  await blobs.checkHeader(header)
  for await (const { from, lines } of storage.read(id, { from: 0, to: head.next }, o)) {
    for (const [index, line] of lines.entries()) {
      const seq = from + index
      const entry = parseEntry(line, seq, note)
      if (entry !== undefined) {
        checkEntry(log, entry, seq, note)
        await blobs.check(entry, seq)
      }
      log.push(entry === undefined ? undefined : stubOf(entry, seq))
    }
  }
  checkLog(log, header, header.origin?.lines ?? 0, note)
  checkLength(head, log, header, note)
  return diagnostics
}

function checkLength(head: HeadInfo, log: EntryLog, header: Header, note: (diagnostic: Diagnostic) => unknown): void {
  const { torn = 0, next } = head
  if (torn > 0)
    note({
      code: "torn_tail",
      bytes: torn,
      message: `The log ends in ${torn} bytes of a line that was never finished.`,
    })
  const wanted = header.origin?.lines ?? 0
  if (log.end < next) {
    const message = `The storage says that the log has ${next} lines, and gives ${log.end}.`
    note({ code: "incomplete", message })
  } else if (next < wanted) {
    const message = `The log has ${next} of ${wanted} lines: the import, fork or copy that made it was cut off. Run it again to complete it.`
    note({ code: "incomplete", message })
  }
}

/** What reading the log says, and what is to be said of the entries that it reads as. */
async function verifyOther(storage: SessionStorage, id: string, o: CallOptions): Promise<Diagnostic[]> {
  const { header, log, diagnostics, newer } = await loadLog(storage, id, loadOther, o)
  // Lines that this program cannot read may be just what they should be.
  if (newer !== undefined) return diagnostics.filter(({ code }) => code === "unknown_version" || code === "torn_tail")
  const found = [...diagnostics]
  const note = (diagnostic: Diagnostic): unknown => found.push(diagnostic)
  const blobs = new BlobCheck(storage, note, { ...o, foreign: true })
  const seen = new EntryLog()
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry !== undefined) {
      checkEntry(seen, entry, seq, note)
      await blobs.check(entry, seq)
    }
    seen.push(entry)
  }
  checkLog(seen, header, Number.MAX_SAFE_INTEGER, note)
  return found
}
