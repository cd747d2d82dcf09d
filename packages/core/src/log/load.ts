/**
 * A stored log, as far as it has been read: its header, its end, and as much before that as a caller needed. Reads backwards,
 * see `read-backwards.ts`. `load-other-version.ts` has the logs of other versions.
 */
import { SessionError, hasCode } from "../format/errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseLine } from "../format/line.ts"
import { FORMAT, type Header, VERSION } from "../format/header.ts"
import type { Entry } from "../format/entry.ts"
import type { CallOptions, HeadInfo, ReadRange, SessionStorage, Seq } from "../storage/contract.ts"
import { EntryLog, type EntrySlot } from "./entry-log.ts"
import type { LogReaderCode } from "./log-reader.ts"
import { parseEntry } from "./parse-entry.ts"
import { isOlder, type NeedsOlder } from "./path.ts"
import { settledLines } from "./tips.ts"
import { type BackwardReading, type Hint, readBackwards, type ReadWindow, startBackwards } from "./read-backwards.ts"
import { StorageError } from "../storage/errors.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { signalOf } from "../storage/signals.ts"

export interface LoadOptions extends CallOptions {
  readonly readWindow?: ReadWindow
  /** Where the context of the log's leaf begins, if the head's information says so. A hint: it may be wrong. */
  readonly contextStart?: (head: HeadInfo) => Seq | undefined
}

/** Reads a log that does not begin with a header of this version. */
export type LoadOther = (storage: SessionStorage, id: string, headInfo: HeadInfo, o: LoadOptions) => Promise<LoadedLog>

export interface LoadedLog {
  readonly header: Header
  readonly headInfo: HeadInfo
  /** The last line, if it was read as it is stored. */
  readonly last?: string | undefined
  readonly log: EntryLog
  readonly reading: BackwardReading
  /** See `settledLines`. All lines of a log of another version. */
  readonly settled: number
  readonly diagnostics: Diagnostic[]
  /** The stored log is of this older version; its entries are migrated, and it cannot be written to as it is. */
  readonly older?: { readonly format: string; readonly version: number; readonly reader: LogReaderCode }
  /** The stored log is of a version or format that is not ours to write. */
  readonly newer?: { readonly version: number }
}

/**
 * Reads the header and the last window. Rejects with `not_found` if there is no session, and `not_a_session` if the log is not one.
 * Retries while the storage is `unavailable`, here and whenever more is read.
 */
export async function loadLog(
  storage: SessionStorage,
  id: string,
  loadOther: LoadOther,
  o: LoadOptions = {},
): Promise<LoadedLog> {
  const headInfo = await retryUnavailable(() => storage.head(id, { ...signalOf(o), first: true }))
  if (headInfo === undefined) throw notFoundError(storage, id)
  const { first = (await retryUnavailable(() => readLines(storage, id, { from: 0, to: 1 }, o)))[0] } = headInfo
  // A log that had a head and has no line now was deleted between the two reads.
  if (first === undefined) throw notFoundError(storage, id)
  const header = currentHeader(first)
  if (header !== undefined) return loadCurrent(storage, id, headInfo, header, o)
  return loadOther(storage, id, headInfo, o)
}

/** The header of a log of this version; undefined if the line is anything else. */
export function currentHeader(line: string | undefined): Header | undefined {
  const { record } = parseLine(line ?? "")
  const ours = record?.type === "session" && record["format"] === FORMAT && record["version"] === VERSION
  return ours ? (record as Header) : undefined
}

async function loadCurrent(
  storage: SessionStorage,
  id: string,
  headInfo: HeadInfo,
  header: Header,
  o: LoadOptions,
): Promise<LoadedLog> {
  const diagnostics = [...tornTail(headInfo), ...incompleteLog(headInfo, header)]
  const reading = startBackwards(headInfo, o.readWindow, o.contextStart?.(headInfo))
  const loaded = {
    header,
    headInfo,
    log: new EntryLog(headInfo.next),
    reading,
    settled: settledLines(header),
    diagnostics,
  }
  const last = await loadOlder(storage, id, loaded, undefined, o)
  return { ...loaded, last }
}

/**
 * Reads the window before what is loaded, or back to `hint` if one is given. Hints come from the log and may be wrong: a wrong one costs
 * reading, but nothing is lost. `conflict` if the log is not the one that was opened. Returns the last of the lines.
 */
export async function loadOlder(
  storage: SessionStorage,
  id: string,
  loaded: Pick<LoadedLog, "log" | "reading" | "diagnostics">,
  hint: Seq | undefined,
  o: CallOptions & Pick<Hint, "exactly"> = {},
): Promise<string | undefined> {
  const { log, reading, diagnostics } = loaded
  const before = log.from
  if (before === 0) return undefined
  const read = (range: ReadRange): Promise<OlderLines> => parseLines(storage, id, range, o)
  const older = await readBackwards(reading, before, { seq: hint, exactly: o.exactly }, read).catch(
    (error: unknown) => {
      throw hasCode(error, "conflict") ? replacedLogError(storage, id, error) : error
    },
  )
  const { from, slots, found } = older
  if (slots.length === 0 || from + slots.length !== before) throw replacedLogError(storage, id)
  log.prepend(slots, (seq, again) => found.push(duplicateId((slots[seq - from] as Entry).id, seq, again)))
  // In several calls: a damaged log may have more diagnostics than a call takes arguments.
  for (let end = found.length; end > 0; end -= 1_000) diagnostics.unshift(...found.slice(Math.max(0, end - 1_000), end))
  return older.last
}

/** Reads older lines of an open session's log on demand, one window at a time, into its `EntryLog`. */
export class LogStore {
  readonly id: string
  readonly storage: SessionStorage
  readonly diagnostics: Diagnostic[]
  /** The log was found deleted or replaced, so whoever opens the session next must load it anew. */
  outdated = false
  /** The state of reading backwards, another one if the log was read again; undefined for a log that was created here and is loaded whole. */
  reading: BackwardReading | undefined
  #loading: Promise<unknown> = Promise.resolve()

  constructor(o: {
    id: string
    storage: SessionStorage
    reading: BackwardReading | undefined
    diagnostics: Diagnostic[]
  }) {
    this.id = o.id
    this.storage = o.storage
    this.diagnostics = o.diagnostics
    this.reading = o.reading
  }

  /**
   * Calls `ask` until its answer needs no older lines, reading further back each time. `ask` may run several times and must have no
   * side effects.
   */
  async untilKnown<T extends object>(log: () => EntryLog, ask: () => T | NeedsOlder, o: CallOptions = {}): Promise<T> {
    for (let reads = 0; ; reads++) {
      const answer = ask()
      if (!isOlder(answer)) return answer
      // The first read has what is certainly needed and no more. If that was not enough, the next ones are windows, which grow.
      const { lines, hint } = answer
      const needed = lines === undefined ? hint : Math.max(0, log().from - lines)
      await this.older(log, reads === 0 ? needed : hint, { ...o, exactly: reads === 0 })
    }
  }

  /** Loads the window before the loaded lines, or back to `hint`. Concurrent calls run one after the other. */
  async older(log: () => EntryLog, hint: Seq | undefined, o: CallOptions & Pick<Hint, "exactly"> = {}): Promise<void> {
    if (o.signal?.aborted === true)
      throw new StorageError("aborted", `Reading ${this.id} was aborted.`, { session: this.id })
    const from = log().from
    const run = this.#loading.then(async () => {
      // A concurrent call may have loaded it meanwhile.
      if (log().from !== from) return
      const { reading } = this
      if (reading === undefined) throw new SessionError("invalid", `${this.id} has no stored log to read from.`)
      await loadOlder(this.storage, this.id, { reading, log: log(), diagnostics: this.diagnostics }, hint, o)
    })
    this.#loading = run.catch((error: unknown) => void (this.outdated ||= hasCode(error, "conflict")))
    await run
  }
}

interface OlderLines {
  /** Seq of the first line. */
  readonly from: Seq
  readonly slots: EntrySlot[]
  readonly found: Diagnostic[]
  readonly last: string | undefined
}

async function parseLines(storage: SessionStorage, id: string, range: ReadRange, o: CallOptions): Promise<OlderLines> {
  const slots: EntrySlot[] = []
  const found: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => void found.push(diagnostic)
  let last: string | undefined
  const from = await eachLine(storage, id, range, o, (line, seq) => slots.push(parseEntry((last = line), seq, report)))
  return { from, slots, found, last }
}

/** Calls `use` with each line of a range as it comes, while the storage reads the next ones. Returns the seq of the first. */
export async function eachLine(
  storage: SessionStorage,
  id: string,
  range: ReadRange,
  o: CallOptions,
  use: (line: string, seq: Seq) => unknown,
): Promise<Seq> {
  let first: Seq | undefined
  for await (const { from, lines } of storage.read(id, range, signalOf(o))) {
    first ??= from
    for (let index = 0; index < lines.length; index++) use(lines[index] as string, from + index)
  }
  return first ?? 0
}

/** All lines of a range at once. */
export async function readLines(
  storage: SessionStorage,
  id: string,
  range: ReadRange,
  o: CallOptions = {},
): Promise<string[]> {
  const all: string[] = []
  await eachLine(storage, id, range, o, (line) => all.push(line))
  return all
}

/** The error of a reader whose log is another one, or gone. */
export function replacedLogError(storage: SessionStorage, id: string, cause?: unknown): SessionError {
  const message = `The log of ${id} was replaced or deleted while it was read. Open the session again.`
  return new SessionError("conflict", message, { session: id, storage: storage.description, cause })
}

/** The diagnostic for an entry at `again` that has the id of an older one. */
function duplicateId(id: string, seq: Seq, again: Seq): Diagnostic {
  const message = `Entry ${id} (line ${again}) has the id of line ${seq}; a reference means the nearest one before it.`
  return { code: "duplicate_id", seq: again, entryId: id, message }
}

export function notFoundError(storage: SessionStorage, id: string): SessionError {
  return new SessionError("not_found", `There is no session ${id} in ${storage.description}.`, {
    session: id,
    storage: storage.description,
  })
}

export function tornTail({ torn = 0 }: HeadInfo): Diagnostic[] {
  if (torn === 0) return []
  const message = `The log ends in ${torn} bytes of an unfinished line. They are ignored; the next append moves them aside.`
  return [{ code: "torn_tail", bytes: torn, message }]
}

/** Headers are not validated, so `origin.lines` may have any type. */
export function incompleteLog({ next }: HeadInfo, { origin }: Header): Diagnostic[] {
  const lines: unknown = origin?.lines
  if (typeof lines !== "number" || next >= lines) return []
  const message = `The log has ${next} of ${lines} lines: the import, fork or copy that made it was interrupted. Repeat it.`
  return [{ code: "incomplete", message }]
}
