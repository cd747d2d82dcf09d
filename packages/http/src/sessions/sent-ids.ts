/**
 * The ids of the entries that a log got lately, to recognize a prompt that was sent again. Read backwards from the end as far as the time of
 * an id requires, and forwards when the log has grown; what was read is remembered.
 */
import { hasCode } from "@sessions/core"
import { isUlid } from "@sessions/core/format"
import { type Head, lineMark, type ReadRange, type Seq, type SessionStorage } from "@sessions/core/storage"

/** Milliseconds by which the time of a prompt's id may differ from the server's, and for which repetitions are recognized: 24 hours. */
export const REPEAT_MS: number = 24 * 60 * 60 * 1000

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const TIME_DIGITS = 10

/** Milliseconds since the epoch: the time in a ULID. */
export function timeOfUlid(id: string): number {
  let time = 0
  for (const digit of id.slice(0, TIME_DIGITS)) time = time * DIGITS.length + DIGITS.indexOf(digit)
  return time
}

/** The largest window that a storage gives from behind damage. */
const WINDOW_BYTES = 262_144

/** Longer logs are read anew for each prompt: 100,000 ids take about 10 MB. */
const MOST_KEPT = 100_000

export class SentIds {
  readonly #storage: SessionStorage
  readonly #session: string
  #scanned: Scanned | undefined

  constructor(storage: SessionStorage, session: string) {
    this.#storage = storage
    this.#session = session
  }

  /** The seq of the entry with this id, a ULID; undefined if the log up to `head` has none. */
  async find(id: string, head: Head): Promise<Seq | undefined> {
    const time = timeOfUlid(id)
    const known = this.#scanned
    const goesOn = known?.log === head.log && known.seqs.size <= MOST_KEPT && (await this.#goesOn(known, head))
    const scanned = goesOn ? known : newScan(head)
    this.#scanned = scanned
    // The entry got its time when a server took the prompt, at most a day from the time of its id.
    while (!scanned.seqs.has(id) && scanned.from > 0 && scanned.oldest >= time - REPEAT_MS) {
      try {
        const from = await this.#scan(scanned, { before: scanned.from, maxBytes: WINDOW_BYTES })
        scanned.from = from ?? 0
      } catch (error) {
        // Entries behind damage cannot be found by anyone.
        if (!hasCode(error, "corrupt")) throw error
        scanned.from = 0
      }
    }
    return scanned.seqs.get(id)
  }

  /**
   * Remembers what has come. False if the log no longer has the last line that was read: an older state was put back, which keeps the
   * identity.
   */
  async #goesOn(scanned: Scanned, head: Head): Promise<boolean> {
    const { next, mark } = scanned
    if (next === 0 || head.next < next) return next === 0
    if (head.next === next && head.mark !== undefined) return head.mark === mark
    const range = { from: next - 1, to: head.next, log: head.log }
    for await (const { from, lines } of this.#storage.read(this.#session, range)) {
      for (const [index, line] of lines.entries()) {
        const seq = from + index
        if (seq >= next) remember(scanned, seq, line)
        else if (lineMark(line) !== mark) return false
      }
    }
    return true
  }

  /** Remembers the entries of a window, and returns its first seq. */
  async #scan(scanned: Scanned, window: ReadRange): Promise<Seq | undefined> {
    let first: Seq | undefined
    for await (const { from, lines } of this.#storage.read(this.#session, { ...window, log: scanned.log })) {
      first ??= from
      for (const [index, line] of lines.entries()) remember(scanned, from + index, line)
    }
    return first
  }
}

function remember(scanned: Scanned, seq: Seq, line: string): void {
  const { id, timestamp, writtenAt = timestamp } = fieldsOf(line)
  if (isUlid(id)) scanned.seqs.set(id, seq)
  const time = typeof writtenAt === "string" ? Date.parse(writtenAt) : Number.NaN
  if (time < scanned.oldest) scanned.oldest = time
  if (seq + 1 < scanned.next) return
  scanned.next = seq + 1
  scanned.mark = lineMark(line)
}

function newScan({ log, next }: Head): Scanned {
  return { log, from: next, next, mark: undefined, oldest: Infinity, seqs: new Map() }
}

interface Scanned {
  readonly log: string
  /** The lines from `from` to before `next` were read. */
  from: Seq
  next: Seq
  /** Of the last of them, see `lineMark`. */
  mark: number | undefined
  /** Milliseconds since the epoch, of the oldest entry that was read. */
  oldest: number
  readonly seqs: Map<string, Seq>
}

function fieldsOf(line: string): { readonly id?: unknown; readonly timestamp?: unknown; readonly writtenAt?: unknown } {
  try {
    return (JSON.parse(line) as object | null) ?? {}
  } catch {
    return {}
  }
}
