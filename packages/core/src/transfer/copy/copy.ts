/** Copies a session to another storage: its lines unchanged, and the blobs that they refer to. */
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { parseLine } from "../../format/line.ts"
import { checkIdentity, identifyLog } from "../../format/identify.ts"
import { withoutEscapes } from "../../storage/escapes.ts"
import { signalOf } from "../../storage/signals.ts"
import type { CallOptions, Seq, SessionStorage } from "../../storage/contract.ts"
import { readLines } from "../../log/load.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import type { LineToWrite } from "../write/log-to-write.ts"
import { addMetadata, checkMetadata, noMetadata } from "../write/metadata-size.ts"
import { reportLimits } from "../write/within-limits.ts"
import { writeLog } from "../write/write-log.ts"
import { readHeader, withOriginLines } from "../headers.ts"
import type { CopyOptions, ImportResult } from "../types.ts"
import { FORMAT, type Header, VERSION } from "../../format/header.ts"
import { backupHashes, hashesOf } from "../verify/check-entries.ts"

/**
 * Lines are copied unchanged; only the header of a log of this format gets the expected number of lines if the log is written in
 * several batches. The same call completes an interrupted copy, and appends to a copy what its source got since. Errors:
 * `not_found`, `not_a_session`; `exists` if the target has another session under this id; `too_large` before anything is written.
 */
export async function copyStored(
  from: SessionStorage,
  id: string,
  to: SessionStorage,
  o: CopyOptions & { readonly now?: () => number } = {},
): Promise<ImportResult> {
  const signal = signalOf(o)
  const { head, line: header, header: own } = await readHeader(from, id, signal)
  const ours = own !== undefined
  const source = ours ? { format: FORMAT, version: VERSION } : await identifyOther(from, id, signal)
  const diagnostics: Diagnostic[] = []
  const report: Report = (diagnostic) => diagnostics.push(diagnostic)
  const blobsOf = blobCopier(from, to, report, signal)
  const written = await writeLog(
    to,
    {
      id,
      header: (lines) => (lines === undefined || !ours ? header : withOriginLines(header, lines, id)),
      ...blobsOf(header, 0),
      lines: (wanted) => linesOf(from, id, head.next, { blobsOf, report: wanted }, signal),
    },
    { ...signal, onProgress: o.onProgress, now: o.now, acceptComplete: true, foreign: !ours, report },
  )
  return { id, lines: written.lines, from: source, diagnostics }
}

async function* linesOf(
  from: SessionStorage,
  id: string,
  to: number,
  { blobsOf, report }: { readonly blobsOf: BlobsOf; readonly report: Report | undefined },
  o: CallOptions,
): AsyncGenerator<LineToWrite, void, undefined> {
  if (to === 1) return
  const metadata = noMetadata()
  for await (const chunk of from.read(id, { from: 1, to }, o)) {
    for (const [index, line] of chunk.lines.entries()) {
      const seq = chunk.from + index
      reportLimits(line, seq, report)
      const entry = report !== undefined && line.includes('"metadata"') ? parseEntry(line, seq) : undefined
      if (entry !== undefined) addMetadata(metadata, entry)
      yield { line, ...blobsOf(line, seq) }
    }
  }
  if (report !== undefined) checkMetadata(metadata, report)
}

async function identifyOther(from: SessionStorage, id: string, o: CallOptions): Promise<ImportResult["from"]> {
  const identity = identifyLog(await readLines(from, id, {}, o))
  // Copying lines does not require understanding them.
  if (identity.kind === "newer") return { format: "unknown", version: identity.version }
  checkIdentity(identity, `${id} in ${from.description}`, { session: id, storage: from.description })
  return { format: identity.kind === "older" ? identity.format : FORMAT, version: identity.version }
}

/** `putBlobs` copies the blobs that a line refers to; missing if it refers to none. */
type BlobsOf = (line: string, seq: Seq) => Pick<LineToWrite, "putBlobs">

/** File snapshots and backups may leave out the prefix. */
const MAY_REFER: readonly string[] = ["sha256:", '"file_snapshot"', '"backup"']
const REFERENCE = /(?:sha256:|")([0-9a-f]{64})/g

/**
 * Copies each blob once, and again when a line is asked to put its blobs again. Hashes are found by searching the text of a line; a
 * match that is not a reference is copied if there is such a blob, and otherwise ignored.
 */
export function blobCopier(from: SessionStorage, to: SessionStorage, report: Report, o: CallOptions): BlobsOf {
  const copies = new Map<string, Promise<boolean>>()
  const copy = async (hash: string): Promise<boolean> => {
    const bytes = await from.blobs.get(hash, o)
    if (bytes !== undefined) await to.blobs.put(bytes, o)
    return bytes !== undefined
  }
  const copyAll = async (line: string, hashes: ReadonlySet<string>, seq: Seq, isAgain: boolean): Promise<void> => {
    const missing = new Set<string>()
    for (const hash of hashes) {
      const copying = (isAgain ? undefined : copies.get(hash)) ?? copy(hash)
      copies.set(hash, copying)
      if (!(await copying)) missing.add(hash)
    }
    if (missing.size === 0 || isAgain) return
    const record = (parseLine(line).record ?? {}) as Entry
    for (const hash of [...hashesOf(record), ...backupHashes(record as Pick<Header, "origin">)]) {
      const message = `Line ${seq} refers to the blob ${hash}, which is not in ${from.description}.`
      if (missing.delete(hash)) report({ code: "missing_blob", seq, message })
    }
  }
  return (line, seq) => {
    const text = withoutEscapes(line)
    if (!MAY_REFER.some((sign) => text.includes(sign))) return {}
    const hashes = new Set(Array.from(text.matchAll(REFERENCE), ([, hash]) => hash as string))
    if (hashes.size === 0) return {}
    let calls = 0
    return { putBlobs: () => copyAll(line, hashes, seq, calls++ > 0) }
  }
}
