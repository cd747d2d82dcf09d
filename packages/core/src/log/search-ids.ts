/**
 * The ids of lines before those that a session holds, to find an entry without loading what is between. Lines are scanned as text, window
 * by window backwards; what was scanned once is remembered.
 */
import { type CallOptions, type HeadInfo, type ReadRange, type Seq, type SessionStorage } from "../storage/contract.ts"
import { isoTime } from "../storage/clock.ts"
import { isUlid, ulidTime } from "../format/ids.ts"
import type { Entry } from "../format/entry.ts"
import { eachLine } from "./load.ts"
import { type BackwardReading, readBackwards, type ReadWindow, startBackwards } from "./read-backwards.ts"
import { parseEntry } from "./parse-entry.ts"

export class IdSearch {
  readonly #reading: BackwardReading
  readonly #seqs = new Map<string, Seq>()
  /** Seq of the first line that was scanned. */
  from: Seq
  /** The time of the oldest scanned entry, see {@link timeOf}. Undefined if none was scanned. */
  oldest: number | undefined

  /** `from`: the first line that is loaded. */
  constructor(head: HeadInfo, from: Seq, window: ReadWindow) {
    this.#reading = startBackwards(head, window)
    this.from = from
  }

  /** The last scanned line with this id. */
  find(id: string): Seq | undefined {
    return this.#seqs.get(id)
  }

  /** Scans the window before the scanned lines. `conflict` if the log was replaced or deleted. */
  async scan(storage: SessionStorage, session: string, o: CallOptions): Promise<void> {
    const read = (range: ReadRange): Promise<Scanned> => scanLines(storage, session, range, o)
    const { from, ids, oldest } = await readBackwards(this.#reading, this.from, {}, read)
    for (let index = ids.length - 1; index >= 0; index--) {
      const id = ids[index]
      if (id !== undefined && !this.#seqs.has(id)) this.#seqs.set(id, from + index)
    }
    this.from = from
    this.oldest = oldest ?? this.oldest
  }
}

/** Milliseconds by which the clocks of clients and servers may differ. */
export const CLOCKS_DIFFER: number = 24 * 60 * 60 * 1000

/**
 * Milliseconds: when a line was written, as far as its entry shows. That is the latest of its times, since a merge and a caller may write
 * old entries.
 */
export function timeOf(entry: Entry): number {
  const { writtenAt } = entry
  return typeof writtenAt === "string" ? Math.max(ownTime(entry), Date.parse(writtenAt)) : ownTime(entry)
}

/** `writtenAt` for an entry that is written now: without it, a search for ids would take the lines before it to be as old as it is. */
export function writtenAtOf(entry: Pick<Entry, "id" | "timestamp">, now: number): string | undefined {
  return ownTime(entry) < now - CLOCKS_DIFFER ? isoTime(now) : undefined
}

function ownTime({ id, timestamp }: Pick<Entry, "id" | "timestamp">): number {
  const time = Date.parse(timestamp)
  return isUlid(id) ? Math.max(time, ulidTime(id)) : time
}

interface Scanned {
  readonly from: Seq
  /** By position; undefined for lines that are not entries. */
  readonly ids: readonly (string | undefined)[]
  readonly oldest: number | undefined
}

async function scanLines(storage: SessionStorage, session: string, range: ReadRange, o: CallOptions): Promise<Scanned> {
  const ids: (string | undefined)[] = []
  let oldest: Entry | undefined
  const from = await eachLine(storage, session, range, o, (line, seq) => {
    ids.push(idOf(line, seq))
    oldest ??= parseEntry(line, seq)
  })
  return { from, ids, oldest: oldest && timeOf(oldest) }
}

/** The id of a line whose keys are in our order, without an escape before it. */
const ID = /^\{"type":"[^"\\]*","id":"([^"\\]*)",/

function idOf(line: string, seq: Seq): string | undefined {
  return ID.exec(line)?.[1] ?? parseEntry(line, seq)?.id
}
