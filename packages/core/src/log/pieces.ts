/**
 * How a log is read backwards: in pieces whose size in bytes doubles, though a storage counts in lines. How long the lines of the
 * next piece are nobody knows, so the step grows like that of a careful walker: twice as far after each piece that was as long as
 * it should be, much less far after one that turned out too long, which is left unread.
 */
import type { CallOptions, HeadInfo, SessionStorage, Seq } from "../storage/contract.ts"
import { retryUnavailable } from "../storage/retry.ts"

/** In bytes, about: text is counted in UTF-16 units. */
export interface PieceSizes {
  /** The last few turns fit, so that one read gives them. */
  readonly first: number
  readonly largest: number
  /** The first piece has at least so many lines: where the history's lines are long, those of its end may still be short. */
  readonly lines: number
}

export const PIECE_SIZES: PieceSizes = { first: 98_304, largest: 16_777_216, lines: 4 }

/** Of a piece that may be left unread, so much waits until it is sure. More than that costs more to hold than to have taken it in vain. */
const HELD = 1_048_576

/** So few lines are read however long they are: to stop in the middle of them would save less than it costs. */
const FEW_LINES = 3

/** What the pieces read so far say about the next one. */
export interface Pace {
  readonly sizes: PieceSizes
  /** Where the live context begins, or 0. A hint: it may be wrong. */
  readonly live: Seq
  /** Lines of the next piece, at most. */
  step: number
  /** Size of all that was read and kept, and its number of lines. */
  units: number
  lines: number
}

/**
 * `live`: where the live context begins, as far as one knows. The first piece goes back to there where that makes it not much longer,
 * and no piece goes beyond it: most readers need what is live, and those few that go on take one piece more.
 */
export function startPace(head: HeadInfo, sizes: PieceSizes = PIECE_SIZES, live: Seq = 0): Pace {
  const usual = Math.max(sizes.lines, linesOf(sizes.first, head.bytes, head.next))
  const whole = head.next - live
  const step = whole > usual && whole <= 2 * usual ? whole : usual
  return { sizes, live, step, units: 0, lines: 0 }
}

/** Takes lines one chunk after the other. One attempt to read has one of its own. */
export interface Taker {
  take(lines: readonly string[], from: Seq): void
}

/**
 * Gives the lines before `before`, at least back to `hint` where that is further than a piece, and `overlap` lines from `before` on;
 * with `exactly`, back to the hint and no further. Fewer where the log has ended meanwhile. Gives the taker that took them all.
 */
export async function readPiece<T extends Taker>(
  storage: SessionStorage,
  id: string,
  where: {
    readonly before: Seq
    readonly overlap: number
    readonly hint: Seq | undefined
    readonly exactly?: boolean | undefined
  },
  pace: Pace,
  taking: () => T,
  o: CallOptions = {},
): Promise<{ readonly from: Seq; readonly taker: T }> {
  const { before, overlap, hint = before } = where
  const budget = budgetOf(pace)
  for (;;) {
    const from = Math.max(0, where.exactly === true ? hint : Math.min(hint, stepFrom(before, pace)))
    // What a hint asks for is needed, however long it is.
    const most = hint <= from || pace.step <= FEW_LINES ? Number.POSITIVE_INFINITY : 2 * budget
    const piece = await retryUnavailable(() =>
      readRange(storage, id, { from, to: before + overlap }, most, taking(), o),
    )
    if (!piece.stopped) {
      pace.units += piece.units
      pace.lines += piece.lines
      pace.step = Math.min(2 * pace.step, linesOf(budgetOf(pace), pace.units, pace.lines))
      return { from, taker: piece.taker }
    }
    const fitting = linesOf(budget, piece.units, piece.lines)
    pace.step = Math.max(1, Math.min(fitting, pace.step >> 3))
  }
}

/** All lines of a range at once. */
export async function readLines(
  storage: SessionStorage,
  id: string,
  range: { readonly from?: Seq; readonly to?: Seq },
  o: CallOptions = {},
): Promise<string[]> {
  const lines: string[] = []
  const take = (more: readonly string[]): void => {
    for (const line of more) lines.push(line)
  }
  await readRange(storage, id, range, Number.POSITIVE_INFINITY, { take }, o)
  return lines
}

interface Piece<T> {
  readonly taker: T
  readonly units: number
  readonly lines: number
  /** It became longer than it may be before it was whole. */
  readonly stopped: boolean
}

async function readRange<T extends Taker>(
  storage: SessionStorage,
  id: string,
  range: { readonly from?: Seq; readonly to?: Seq },
  most: number,
  taker: T,
  o: CallOptions,
): Promise<Piece<T>> {
  const { from = 0, to = Number.POSITIVE_INFINITY } = range
  const held = most === Number.POSITIVE_INFINITY ? 0 : HELD
  const waiting: (readonly string[])[] = []
  let taken = from
  let units = 0
  let lines = 0
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  for await (const chunk of storage.read(id, range, signal)) {
    waiting.push(chunk.lines)
    for (const line of chunk.lines) units += line.length + 1
    lines += chunk.lines.length
    if (units > most && lines < to - from) return { taker, units, lines, stopped: true }
    if (units > held) take()
  }
  take()
  return { taker, units, lines, stopped: false }

  function take(): void {
    for (const some of waiting.splice(0)) {
      taker.take(some, taken)
      taken += some.length
    }
  }
}

function stepFrom(before: Seq, { step, live }: Pace): Seq {
  const from = before - step
  return from < live && live < before ? live : from
}

/** As much again as there is, so that reading to the beginning takes few pieces and what is read too much stays in proportion. */
function budgetOf({ sizes, units }: Pace): number {
  return Math.max(1, Math.min(Math.max(units, sizes.first), sizes.largest))
}

/** How many lines make a size, where so many of them have so many units. */
function linesOf(size: number, units: number, lines: number): number {
  return Math.max(1, Math.floor((size * lines) / Math.max(1, units)))
}
