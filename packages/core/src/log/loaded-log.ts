/**
 * A stored log, as far as it has been read: its header, its end, and as much before that as somebody needed. Reads backwards in
 * growing pieces. `other-log.ts` has the logs of other versions.
 */
import { SessionError } from "../format/errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseLine } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/records.ts"
import type { Entry, Header } from "../format/records.ts"
import type { CallOptions, HeadInfo, SessionStorage, Seq } from "../storage/contract.ts"
import { EntryLog } from "./entry-log.ts"
import type { EntrySlot } from "./entry-log.ts"
import { parseEntry } from "./parse-entry.ts"
import { readLines, readPiece, startPace } from "./pieces.ts"
import type { Pace, PieceSizes } from "./pieces.ts"
import { retryUnavailable } from "../storage/retry.ts"

export { readLines } from "./pieces.ts"

export interface LoadOptions extends CallOptions {
  /** How much is read at a time. */
  readonly pieces?: PieceSizes
  /** Where the context of the log's leaf begins, if the head's information says so. A hint: it may be wrong. */
  readonly contextStart?: (head: HeadInfo) => Seq | undefined
}

/** Reads a log that does not begin with a header of this version; its code may be loaded for it. */
export type LoadOther = (storage: SessionStorage, id: string, headInfo: HeadInfo, o: LoadOptions) => Promise<LoadedLog>

/** Lines that are no entries may stand between; so many of them are read twice at most. */
const FURTHEST_KNOWN = 16

export interface LoadedLog {
  readonly header: Header
  readonly headInfo: HeadInfo
  readonly log: EntryLog
  readonly pace: Pace
  /** So many lines, from the first on, were made elsewhere: their branches are no sign of a second writer. */
  readonly imported: Seq
  readonly diagnostics: Diagnostic[]
  /** The stored log is of this older version; its entries are migrated, and it cannot be written to as it is. */
  readonly older?: { readonly format: string; readonly version: number }
  /** The stored log is of a version or format that is not ours to write. */
  readonly newer?: { readonly version: number }
}

/**
 * Reads the header and the last piece. `not_found` where there is no session, `not_a_session` where the log is something else. A
 * storage that is `unavailable` is asked again, here and whenever more is read.
 */
export async function loadLog(
  storage: SessionStorage,
  id: string,
  loadOther: LoadOther,
  o: LoadOptions = {},
): Promise<LoadedLog> {
  const headInfo = await retryUnavailable(() => storage.head(id, o))
  const first =
    headInfo === undefined ? [] : await retryUnavailable(() => readLines(storage, id, { from: 0, to: 1 }, o))
  // A log that was there a moment ago and has no line now was deleted between the two.
  if (headInfo === undefined || first.length === 0) throw notFound(storage, id)
  const header = currentHeader(first[0])
  if (header !== undefined) return loadCurrent(storage, id, headInfo, header, o)
  return loadOther(storage, id, headInfo, o)
}

/** The header of a log of this version that begins with it, as all do that were written here. */
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
  const diagnostics = tornTail(headInfo)
  const imported = importedLines(header)
  if (headInfo.next < imported) {
    const message = `The log has ${headInfo.next} of ${imported} lines: the import, fork or copy that made it was cut off. Run it again to complete it.`
    diagnostics.push({ code: "incomplete", message })
  }
  const pace = startPace(headInfo, o.pieces, o.contextStart?.(headInfo))
  const loaded = { header, headInfo, log: new EntryLog(headInfo.next), pace, imported, diagnostics }
  await loadOlder(storage, id, loaded, undefined, o)
  return loaded
}

/** Headers are taken as they come, so a field of them may hold anything. */
export function importedLines({ origin }: Header): Seq {
  const lines: unknown = origin?.lines
  return typeof lines === "number" ? lines : 0
}

/**
 * Reads the piece before what is held, at least back to `hint` where one is given. Hints come from the log and may be wrong: one
 * that is nonsense costs reading, never truth. `conflict` where the log is not the one that was opened any more.
 */
export async function loadOlder(
  storage: SessionStorage,
  id: string,
  loaded: Pick<LoadedLog, "headInfo" | "log" | "pace" | "diagnostics">,
  hint: Seq | undefined,
  o: CallOptions & { readonly exactly?: boolean } = {},
): Promise<void> {
  const { log, headInfo, pace, diagnostics } = loaded
  const before = log.from
  if (before === 0) return
  // One entry that is known already comes along: in a log made anew or replaced under this reader, another one would stand there.
  let known = before
  const furthest = Math.min(headInfo.next, before + FURTHEST_KNOWN)
  while (known < furthest && log.at(known) === undefined) known++
  const overlap = known < furthest ? known - before + 1 : 0
  const taking = (): SlotTaker => new SlotTaker(before)
  const where = { before, overlap, hint, exactly: o.exactly }
  const { from, taker } = await readPiece(storage, id, where, pace, taking, o)
  const { slots, found } = taker
  const again = overlap === 0 ? undefined : slots.at(-1)?.id
  if (slots.length !== before - from + overlap || again !== log.at(known)?.id) {
    const message = `The log of ${id} was replaced or deleted while it was read. Open the session again.`
    throw new SessionError("conflict", message, { session: id, storage: storage.description })
  }
  slots.length = before - from
  log.prepend(slots, (seq, again) => found.push(duplicateId((slots[seq - from] as Entry).id, seq, again)))
  // Not all in one call: a damaged log may have more lines to tell of than a call takes arguments.
  for (let end = found.length; end > 0; end -= 1_000) diagnostics.unshift(...found.slice(Math.max(0, end - 1_000), end))
}

/** Parses lines as they come; what is wrong with those from `before` on was told of when they were read first. */
class SlotTaker {
  readonly slots: EntrySlot[] = []
  readonly found: Diagnostic[] = []
  readonly #before: Seq

  constructor(before: Seq) {
    this.#before = before
  }

  take(lines: readonly string[], from: Seq): void {
    for (let index = 0; index < lines.length; index++) {
      this.slots.push(parseEntry(lines[index] as string, from + index, this.#note))
    }
  }

  readonly #note = (diagnostic: Diagnostic): void => {
    if ((diagnostic.seq ?? 0) < this.#before) this.found.push(diagnostic)
  }
}

/** The entry at `again` has the id of an older one; those that had it before are known. */
function duplicateId(id: string, seq: Seq, again: Seq): Diagnostic {
  const message = `Entry ${id} (line ${again}) has the id of line ${seq}; a reference means the nearest one before it.`
  return { code: "duplicate_id", seq: again, entryId: id, message }
}

export function notFound(storage: SessionStorage, id: string): SessionError {
  return new SessionError("not_found", `There is no session ${id} in ${storage.description}.`, {
    session: id,
    storage: storage.description,
  })
}

export function tornTail({ torn = 0 }: HeadInfo): Diagnostic[] {
  if (torn === 0) return []
  const message = `The log ends in ${torn} bytes of a line that was never finished. They are ignored, and kept aside at the next append.`
  return [{ code: "torn_tail", bytes: torn, message }]
}
