/** Compares and advances heads, with the same error texts for all adapters. */
import { type CheckedRange } from "./checks.ts"
import { batchBytes } from "./utf8.ts"
import type { StorageAppendOptions, Head, HeadInfo } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { toHex } from "./hash.ts"

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

function differenceOf(stored: Head | undefined, expect: 0 | Head): string | undefined {
  if (stored === undefined) return expect === 0 ? undefined : "there is no such session; expect 0 creates it"
  if (expect === 0) return "the session exists already"
  if (stored.log !== expect.log) return "the log was deleted and created again, or replaced; read it again"
  if (stored.next === expect.next) return undefined
  return `the log has ${stored.next} lines, not ${expect.next}; read the new lines and append after them`
}
