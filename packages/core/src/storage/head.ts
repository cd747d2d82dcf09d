/** Compares and advances heads, with the same error texts for all adapters. */
import { type CheckedRange } from "./checks.ts"
import { batchBytes } from "./utf8.ts"
import type { StorageAppendOptions, Head, HeadInfo, Seq } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { toHex } from "./hash.ts"

/** The units of a line's beginning, and of its end, that its mark covers. */
const MARKED = 128

/**
 * The mark of a line: FNV-1a with 32 bits over its UTF-16 units and its length. Of a line with more than 256 units only the first 128 and
 * the last 128 count.
 */
export function lineMark(line: string): number {
  const { length } = line
  let hash = 0x811c9dc5
  for (let at = 0; at < length; at++) {
    if (at === MARKED) at = Math.max(at, length - MARKED)
    hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193)
  }
  return Math.imul(hash ^ length, 0x01000193) >>> 0
}

/** Computes its mark when it is first asked for: in one process the line itself is mostly the same text. */
class EndOfLog implements Head {
  readonly next: Seq
  readonly log: string
  readonly #line: string
  #mark: number | undefined

  constructor(next: Seq, log: string, line: string) {
    this.next = next
    this.log = log
    this.#line = line
  }

  get mark(): number {
    return (this.#mark ??= lineMark(this.#line))
  }

  static isSame(one: Head, other: Head): boolean {
    // Not `#line in`: with it the comparison took a tenth of an append in memory.
    const line = one instanceof EndOfLog ? one.#line : undefined
    const otherLine = other instanceof EndOfLog ? other.#line : undefined
    if (line !== undefined && line === otherLine) return true
    // A mark is not computed to be compared with none.
    if (line === undefined && one.mark === undefined) return true
    if (otherLine === undefined && other.mark === undefined) return true
    return one.mark === other.mark
  }
}

/** The head of a log with this last line. A copy by `{...head}` has no mark. */
export function headAt(next: Seq, log: string, line: string | undefined): Head {
  return line === undefined ? { next, log } : new EndOfLog(next, log, line)
}

/** Whether two heads with equal `next` and `log` can be of the same line: their marks are the same, or one has none. */
export function isSameLine(one: Head, other: Head): boolean {
  return EndOfLog.isSame(one, other)
}

/** Throws `conflict` if the log is not at the head that an append or a replace expects. `stored` is undefined if there is no log. */
export function checkExpect(stored: Head | undefined, expect: 0 | Head): void {
  const difference = differenceOf(stored, expect)
  if (difference !== undefined) throw new StorageError("conflict", `Nothing was written: ${difference}.`)
}

/**
 * The head after an append to a log with the head `stored` (undefined: there is no log yet). Throws `conflict` if the append expects
 * another head. A new log gets an identity; `updatedAt` never decreases.
 */
export function headAfter(
  stored: HeadInfo | undefined,
  lines: readonly string[],
  { expect, info }: StorageAppendOptions,
  now: number = Date.now(),
): HeadInfo {
  checkExpect(stored, expect)
  const next = (stored?.next ?? 0) + lines.length
  const kept = info === undefined ? stored?.info : { text: info, next }
  return {
    next,
    log: stored?.log ?? newLog(),
    bytes: (stored?.bytes ?? 0) + batchBytes(lines),
    updatedAt: Math.max(stored?.updatedAt ?? 0, now),
    mark: lineMark(lines.at(-1) as string),
    ...(kept && { info: kept }),
  }
}

/** An identity for a new log: 24 random hex digits. */
export function newLog(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(12)))
}

/**
 * The seqs of a range in a log with the head `stored` (undefined: there is no log). For a window: the seqs before its `before`.
 * Throws `conflict` if the range names another log.
 */
export function rangeIn(range: CheckedRange, stored: Head | undefined): { readonly from: number; readonly to: number } {
  if (range.log !== undefined && range.log !== stored?.log) {
    throw new StorageError("conflict", "The log was deleted, created again or replaced; read it again without `log`.")
  }
  return { from: range.from, to: Math.min(range.to, stored?.next ?? 0) }
}

const OTHER_LINE = "the log ends in another line, as an older copy does; read it again"

function differenceOf(stored: Head | undefined, expect: 0 | Head): string | undefined {
  if (stored === undefined) return expect === 0 ? undefined : "there is no such session; expect 0 creates it"
  if (expect === 0) return "the session exists already"
  if (stored.log !== expect.log) return "the log was deleted and created again, or replaced; read it again"
  if (stored.next === expect.next) return isSameLine(stored, expect) ? undefined : OTHER_LINE
  return `the log has ${stored.next} lines, not ${expect.next}; read the new lines and append after them`
}
