/** Reads a complete log for export and fork: entries without content in memory, complete entries from the storage on demand. */
import type { Entry } from "../format/entry.ts"
import { storesState } from "../format/entry-types.ts"
import type { Header } from "../format/header.ts"
import { signalOf } from "../storage/signals.ts"
import type { CallOptions, Chunk, Seq, SessionStorage } from "../storage/contract.ts"
import { EntryLog } from "../log/entry-log.ts"
import { loadLog } from "../log/load.ts"
import { loadOther } from "../log/load-other-version.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { ReadableSession } from "../session/live-types.ts"
import { type Fields, isObject } from "../format/shape.ts"
import type { Report } from "../format/diagnostics.ts"
import { piLogs } from "./migrate/pi-logs.ts"

export interface WholeLog {
  readonly header: Header
  /** Entries are stubs, without content, unless `inMemory`. */
  readonly log: EntryLog
  /** The entries differ from the stored lines, because they were migrated. */
  readonly inMemory: boolean
  /** The complete entries at these seqs, in log order; with their lines unless `inMemory`. */
  entries(wanted: ReadonlySet<Seq>): AsyncIterable<WholeEntry>
}

export interface WholeEntry {
  readonly seq: Seq
  readonly line?: string
  readonly entry: () => Entry
}

/** The stored log. Errors: `not_found`, `not_a_session`. */
export async function readWholeLog(storage: SessionStorage, id: string, o: CallOptions = {}): Promise<WholeLog> {
  const signal = signalOf(o)
  const { header, log, headInfo, older, newer } = await loadLog(storage, id, loadOther([piLogs]), signal)
  if (older !== undefined || newer !== undefined) return inMemory(header, log)
  return readStored(storage, id, header, headInfo.next, signal)
}

/** The log of an open session, without what is not written yet. */
export async function wholeLogOf(live: ReadableSession, o: CallOptions = {}): Promise<WholeLog> {
  const { state, storage, id, otherVersion } = live
  const signal = signalOf(o)
  if (otherVersion !== undefined) return inMemory(state.header, state.log)
  return readStored(storage, id, state.header, state.acknowledged, signal)
}

function inMemory(header: Header, log: EntryLog): WholeLog {
  return {
    header,
    log,
    inMemory: true,
    async *entries(wanted) {
      for (let seq = log.from; seq < log.end; seq++) {
        const entry = wanted.has(seq) ? log.at(seq) : undefined
        if (entry !== undefined) yield { seq, entry: () => entry }
      }
    },
  }
}

async function readStored(
  storage: SessionStorage,
  id: string,
  header: Header,
  to: Seq,
  o: CallOptions,
): Promise<WholeLog> {
  return {
    header,
    log: (await readStubs(storage.read(id, { from: 0, to }, o))).log,
    inMemory: false,
    async *entries(wanted) {
      for await (const { from, lines } of storage.read(id, { from: 0, to }, o)) {
        for (const [index, line] of lines.entries()) {
          const seq = from + index
          if (wanted.has(seq)) yield { seq, line, entry: () => parseEntry(line, seq) as Entry }
        }
      }
    },
  }
}

/**
 * Reads the lines of a log as stubs. Lines that are missing between two chunks are empty slots; those before an empty chunk at the end
 * only count for `end`. `visit` is called with each complete entry, and with the stubs of those before it.
 */
export async function readStubs(
  chunks: AsyncIterable<Chunk>,
  report?: Report,
  visit?: (entry: Entry, before: EntryLog) => Promise<void>,
): Promise<{ readonly log: EntryLog; readonly end: Seq }> {
  const log = new EntryLog()
  let end = 0
  for await (const { from, lines } of chunks) {
    end = from + lines.length
    if (lines.length === 0) continue
    while (log.end < from) log.push(undefined)
    for (const [index, line] of lines.entries()) {
      const entry = parseEntry(line, from + index, report)
      if (entry !== undefined) await visit?.(entry, log)
      log.push(entry === undefined ? undefined : stubOf(entry))
    }
  }
  return { log, end }
}

const KEPT: readonly string[] = [
  "targetId",
  "targetSeq",
  "firstKeptEntryId",
  "firstKeptSeq",
  "state",
  "key",
  "title",
  "source",
  "label",
  "provider",
  "model",
  "role",
  "thinkingLevel",
  "mode",
  "injectedRules",
  "fromId",
  "settles",
]
const KEPT_OF_MESSAGE: readonly string[] = ["role", "provider", "model"]

/** The entry without its content: the fields of the tree, the context state and the references. A stub of every entry fits in memory. */
function stubOf(entry: Entry): Entry {
  const { type, id, parentId, seq, timestamp } = entry
  const stub: Record<string, unknown> = { type, id, parentId, seq, timestamp, ...pick(entry, KEPT) }
  if (type === "mode_change") stub["data"] = entry["data"]
  if (storesState(type) && entry.blobs !== undefined) stub["blobs"] = entry.blobs
  // Values may be large; only `cwd` is needed, for the session information.
  if (type === "metadata" && entry["value"] !== undefined)
    stub["value"] = entry["key"] === "cwd" ? entry["value"] : null
  if (type === "message" && isObject(entry["message"])) stub["message"] = pick(entry["message"], KEPT_OF_MESSAGE)
  return stub as unknown as Entry
}

function pick(from: Fields, keys: readonly string[]): Fields {
  const picked: Record<string, unknown> = {}
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key]
  return picked
}
