/**
 * The ids of the entries that a log got lately, to recognize a prompt that was sent again. Read backwards from the end as far as the time of
 * an id requires, and forwards when the log has grown; what was read is remembered.
 */
import { hasCode } from "@sessions/core"
import { isUlid } from "@sessions/core/format"
import type { Head, ReadRange, Seq, SessionStorage } from "@sessions/core/storage"

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
    if (this.#scanned?.log !== head.log || this.#scanned.seqs.size > MOST_KEPT)
      this.#scanned = { log: head.log, from: head.next, next: head.next, oldest: Infinity, seqs: new Map() }
    const scanned = this.#scanned
    if (scanned.next < head.next) {
      await this.#scan(scanned, { from: scanned.next, to: head.next })
      scanned.next = head.next
    }
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

  /** Remembers the entries of a range, and returns its first seq. */
  async #scan(scanned: Scanned, range: ReadRange): Promise<Seq | undefined> {
    let first: Seq | undefined
    for await (const { from, lines } of this.#storage.read(this.#session, { ...range, log: scanned.log })) {
      first ??= from
      for (const [index, line] of lines.entries()) {
        const { id, timestamp, writtenAt = timestamp } = fieldsOf(line)
        if (isUlid(id)) scanned.seqs.set(id, from + index)
        const time = typeof writtenAt === "string" ? Date.parse(writtenAt) : Number.NaN
        if (time < scanned.oldest) scanned.oldest = time
      }
    }
    return first
  }
}

interface Scanned {
  readonly log: string
  /** The lines from `from` to before `next` were read. */
  from: Seq
  next: Seq
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
