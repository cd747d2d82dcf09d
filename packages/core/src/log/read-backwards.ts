/**
 * Reading a log backwards: in windows whose size doubles, or back to a line that is known to be needed. Decides what is read next; the
 * caller parses the lines.
 */
import { type HeadInfo, MAX_CHUNK_BYTES, type ReadRange, type Seq } from "../storage/contract.ts"
import { hasCode } from "../format/errors.ts"
import { retryUnavailable } from "../storage/retry.ts"

/** The windows in which a log is read backwards, in UTF-8 bytes. Each is twice as large as the one before it. */
export interface ReadWindow {
  readonly first: number
  readonly largest: number
}

/** 96 KB hold the last few turns, so that one read opens most sessions. 16 MB bound the memory that reading a long log takes. */
export const READ_WINDOW: ReadWindow = { first: 98_304, largest: 16_777_216 }

/** How far reading backwards has come. */
export interface BackwardReading {
  readonly head: HeadInfo
  readonly first: number
  /** Where the context of the log's leaf begins, or 0. A hint: it may be wrong. */
  readonly contextStart: Seq
  /** Size of the next window, in bytes. */
  next: number
  largest: number
}

export function startBackwards(
  head: HeadInfo,
  { first, largest }: ReadWindow = READ_WINDOW,
  contextStart: Seq = 0,
): BackwardReading {
  return { head, first, contextStart, next: Math.min(first, largest), largest }
}

/** The line to read back to, as the log has it, and whether no more is wanted than that. */
export interface Hint {
  readonly seq?: Seq | undefined
  readonly exactly?: boolean | undefined
}

/**
 * Calls `read` with the lines to read next, which end at `before`; again if the storage is `unavailable`, so `read` starts over each time.
 * A large window in which a line is damaged is read again as a small one, which has the lines after the damage.
 */
export async function readBackwards<T>(
  reading: BackwardReading,
  before: Seq,
  hint: Hint,
  read: (range: ReadRange) => Promise<T>,
): Promise<T> {
  const range = nextRange(reading, before, hint)
  try {
    const result = await retryUnavailable(() => read(range))
    reading.next = Math.min(2 * reading.next, reading.largest)
    return result
  } catch (error) {
    if (!("maxBytes" in range) || range.maxBytes <= MAX_CHUNK_BYTES || !hasCode(error, "corrupt")) throw error
    reading.largest = MAX_CHUNK_BYTES
    reading.next = MAX_CHUNK_BYTES
    return retryUnavailable(() => read({ ...range, maxBytes: MAX_CHUNK_BYTES }))
  }
}

function nextRange(reading: BackwardReading, before: Seq, hint: Hint): ReadRange {
  const { head, first, contextStart, next, largest } = reading
  const { log } = head
  const isBefore = (seq: Seq | undefined): seq is Seq => Number.isSafeInteger(seq) && (seq as Seq) < before
  // By the log's lines on average: a wrong estimate costs a read, or reads the context earlier than it is asked for.
  const bytesFrom = (seq: Seq): number => ((before - seq) * head.bytes) / head.next
  // A line that the log names is needed however far back it is.
  if (isBefore(hint.seq) && (hint.exactly === true || bytesFrom(hint.seq) > next)) {
    return { from: Math.max(0, hint.seq), to: before, log }
  }
  // Most callers need the context and no more. Opening reads it if it is not much longer than the first window.
  const most = before === head.next ? 2 * first : largest
  if (contextStart > 0 && isBefore(contextStart) && bytesFrom(contextStart) <= most) {
    return { from: contextStart, to: before, log }
  }
  return { before, maxBytes: next, log }
}
