/** A whole log: its tree in memory, its entries as often as they are needed. */
import type { Entry, Header } from "../format/records.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { EntryLog } from "../log/entry-log.ts"
import { loadOther } from "./older/other-log.ts"
import { loadLog } from "../log/loaded-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { ReadableSession } from "../session/live.ts"
import { stubOf } from "./stub.ts"

export interface WholeLog {
  readonly header: Header
  /** Without contents where they are in the storage. */
  readonly log: EntryLog
  /** The log's entries are not the stored lines: they were migrated, or wait in memory to be stored. */
  readonly inMemory: boolean
  /** The whole entries of these places, in log order; those that are stored with their lines. */
  entries(wanted: ReadonlySet<Seq>): AsyncIterable<WholeEntry>
}

export interface WholeEntry {
  readonly seq: Seq
  readonly line?: string
  readonly entry: () => Entry
}

/** As it is stored. `not_found`, `not_a_session`. */
export async function readWholeLog(storage: SessionStorage, id: string, o: CallOptions = {}): Promise<WholeLog> {
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const { header, log, headInfo, older, newer } = await loadLog(storage, id, loadOther, signal)
  if (older !== undefined || newer !== undefined) return inMemory(header, log)
  return readStored(storage, id, header, headInfo.next, signal)
}

/** As an open session has it, with what is not stored yet. */
export async function wholeLogOf(shared: ReadableSession, o: CallOptions = {}): Promise<WholeLog> {
  const { state, storage, id, writeGuard } = shared
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  if (state.head === undefined || writeGuard.kind !== "open") return inMemory(state.header, state.log)
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
  const log = new EntryLog()
  for await (const { from, lines } of storage.read(id, { from: 0, to }, o)) {
    for (const [index, line] of lines.entries()) {
      const seq = from + index
      const entry = entryOf(line, seq)
      log.push(entry === undefined ? undefined : stubOf(entry, seq))
    }
  }
  return {
    header,
    log,
    inMemory: false,
    entries: (wanted) => readEntries(storage, id, to, wanted, o),
  }
}

async function* readEntries(
  storage: SessionStorage,
  id: string,
  to: Seq,
  wanted: ReadonlySet<Seq>,
  o: CallOptions,
): AsyncGenerator<WholeEntry, void, undefined> {
  for await (const { from, lines } of storage.read(id, { from: 0, to }, o)) {
    for (const [index, line] of lines.entries()) {
      const seq = from + index
      if (wanted.has(seq)) yield { seq, line, entry: () => ({ ...(entryOf(line, seq) as Entry), seq }) }
    }
  }
}

function entryOf(line: string, seq: Seq): Entry | undefined {
  return parseEntry(line, seq, () => undefined)
}
