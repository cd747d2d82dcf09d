/** Reads a session for the page: blocks of entries as they come, then the outline and the summary. */
import { toJsonText } from "@sessions/core/format"
import type { Session, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { sessionTree } from "@sessions/core/transfer"
import type { ContextView, DamagedLine, Row, StoredEntry, Subagent, Summary } from "../model/types.ts"
import { type Redact, redactRecord } from "../redact.ts"
import { readLinesOf } from "./lines.ts"
import { type Place, placesOf, rowOf } from "./outline.ts"
import { readContext, readSummary } from "./summary.ts"

export type ReadPart =
  /** Entries with their seqs, ascending. */
  | { readonly entries: readonly (readonly [seq: number, StoredEntry])[] }
  | { readonly rows: readonly Row[] }
  | { readonly context: ContextView }
  /** The last part. */
  | { readonly summary: Summary }

/** All that is in the log when it is called; `subagents` are named in the summary. */
export async function* readSession(
  { storage }: Sessions,
  session: Session,
  {
    redact,
    subagents,
    ...o
  }: CallOptions & { readonly redact?: Redact | undefined; readonly subagents: readonly Subagent[] },
): AsyncGenerator<ReadPart> {
  const { bySeq, leaf } = placesOf(await sessionTree(session, o))
  const seqs = [...bySeq.keys()].sort((a, b) => a - b)
  const end = (await storage.head(session.id, o))?.next ?? 0
  const seqOf = new Map<string, number>()
  const rows: Row[] = []
  const damaged: DamagedLine[] = []
  let entries: [number, StoredEntry][] = []
  let units = 0
  for await (const { seq, entry, line } of readLinesOf(storage, session, { seqs, end }, o)) {
    if (entry === undefined) {
      // A pattern may not match the escaped text of a line that is no record.
      if (seq > 0) damaged.push({ seq, raw: redact === undefined ? line : null })
      continue
    }
    const shown = redact === undefined ? entry : redactRecord(entry, redact)
    const stored = { entry: shown, ...rawOf(shown, line, redact) }
    rows.push(rowOf(shown, seq, shownPlace(bySeq.get(seq), redact), (id) => seqOf.get(id)))
    seqOf.set(entry.id, seq)
    entries.push([seq, stored])
    units += (line?.length ?? 0) + BASE_UNITS
    if (units < BLOCK_UNITS) continue
    yield { entries }
    entries = []
    units = 0
  }
  if (entries.length > 0) yield { entries }
  for (let start = 0; start < rows.length; start += BLOCK_ROWS) yield { rows: rows.slice(start, start + BLOCK_ROWS) }
  yield { context: await readContext(session, redact, o) }
  const summary = await readSummary(session, redact, o)
  yield { summary: { ...summary, leaf, lines: end, damaged, subagents } }
}

/** The size of a block that the page parses at once. */
const BLOCK_UNITS = 262_144
const BLOCK_ROWS = 5_000
/** Of an entry, so that many small ones make a block too. */
const BASE_UNITS = 64

function shownPlace(place: Place = { parent: -1 }, redact: Redact | undefined): Place {
  const { label } = place
  return redact === undefined || label === undefined ? place : { ...place, label: redact(label) }
}

/**
 * With redaction the stored line is shown as the record is. A line that refers to blobs is left out: the hash of a text and its place say
 * something of it.
 */
export function rawOf(entry: object, line: string | undefined, redact: Redact | undefined): Pick<StoredEntry, "raw"> {
  if (line === undefined) return { raw: null }
  if (redact === undefined) return line === toJsonText(entry) ? {} : { raw: line }
  const record = JSON.parse(line) as object
  if ("blobs" in record) return { raw: null }
  const shown = toJsonText(redactRecord(record, redact))
  return shown === toJsonText(entry) ? {} : { raw: shown }
}
