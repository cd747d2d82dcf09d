/** What follows from a head, in the same words for all adapters. */
import { batchBytes, type CheckedRange } from "./checks.ts"
import type { StorageAppendOptions, Head, HeadInfo } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { toHex } from "./hash.ts"

/** Throws `conflict` where the log is not at the head that an append or a replace expects. `stored` is undefined where there is none. */
export function checkExpect(stored: Head | undefined, expect: 0 | Head): void {
  if (!isAt(stored, expect)) throw new StorageError("conflict", `Nothing was written: ${whyNot(stored, expect)}.`)
}

/**
 * The head after an append to a log that is stored with the head `stored`; undefined where there is none. Throws `conflict` where
 * that is not what the append expects. A log that begins gets an identity, and no head is older than the one before it.
 */
export function headAfter(
  stored: HeadInfo | undefined,
  lines: readonly string[],
  { expect, info }: StorageAppendOptions,
  now: number = Date.now(),
): HeadInfo {
  checkExpect(stored, expect)
  const next = (stored?.next ?? 0) + lines.length
  const about = info === undefined ? stored?.info : { text: info, next }
  return {
    next,
    log: stored?.log ?? newLog(),
    bytes: (stored?.bytes ?? 0) + batchBytes(lines),
    updatedAt: Math.max(stored?.updatedAt ?? 0, now),
    ...(about && { info: about }),
  }
}

/** An identity for a log that begins: 24 hex digits by chance. */
export function newLog(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(12)))
}

/**
 * The seqs of a range in the log that is stored with the head `stored`; undefined if there is none. Of a window, the seqs that it
 * is taken from. Throws `conflict` if the range names another log.
 */
export function rangeIn(range: CheckedRange, stored: Head | undefined): { readonly from: number; readonly to: number } {
  if (range.log !== undefined && range.log !== stored?.log) {
    throw new StorageError("conflict", "The log was deleted, made again or replaced; read it anew without `log`.")
  }
  return { from: range.from, to: Math.min(range.to, stored?.next ?? 0) }
}

function isAt(stored: Head | undefined, expect: 0 | Head): boolean {
  if (stored === undefined || expect === 0) return stored === undefined && expect === 0
  return stored.log === expect.log && stored.next === expect.next
}

function whyNot(stored: Head | undefined, expect: 0 | Head): string {
  if (stored === undefined) return "there is no such session; expect 0 creates it"
  if (expect === 0) return "the session exists already"
  if (stored.log !== expect.log) return "the log was deleted and made again, or replaced; read it anew"
  return `the log has ${stored.next} lines, not ${expect.next}; read what was added and append after it`
}
