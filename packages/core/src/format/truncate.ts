/** The lossy way to keep lines short, for stores that want no blobs of text. */
import { BLOB_TEXT_UNITS, TRUNCATED_TEXT_UNITS, TRUNCATION_NOTICE } from "./limits.ts"
import { getAt, setAt } from "./pointer.ts"
import { isOpaque } from "./opaque.ts"
import { findStrings } from "./strings.ts"

export interface TruncateLimits {
  /** Longer strings are cut. Default {@link BLOB_TEXT_UNITS}. */
  readonly textUnits?: number
  /** What is left of them, in UTF-16 units, notice included. Default {@link TRUNCATED_TEXT_UNITS}, or `textUnits` if that is less. */
  readonly leave?: number
}

/**
 * The entry with its oversize strings cut and a notice at their end; the entry itself where there are none. Where a cut string is
 * an object's `content` beside a number `lineCount`, that is counted again. Blocks that are signed or encrypted stay whole, since
 * a provider refuses them otherwise, and so do images, which are worth nothing when cut.
 */
export function truncateOversize<E extends object>(entry: E, limits: TruncateLimits = {}): E {
  const textUnits = limits.textUnits ?? BLOB_TEXT_UNITS
  const leave = limits.leave ?? Math.min(textUnits, TRUNCATED_TEXT_UNITS)
  const values = new Map<string, unknown>()
  const oversize = findStrings(entry, {
    wanted: (text, image) => text.length > textUnits && !image,
    enter: (holder) => !isOpaque(holder),
  })
  for (const { pointer, text } of oversize) {
    const cut = truncate(text, leave)
    values.set(pointer, cut)
    const lineCount = pointer.replace(/\/content$/, "/lineCount")
    if (lineCount !== pointer && typeof getAt(entry, lineCount) === "number") values.set(lineCount, countLines(cut))
  }
  return setAt(entry, values)
}

function truncate(text: string, leave: number): string {
  const end = Math.max(leave - TRUNCATION_NOTICE.length, 0)
  const last = text.charCodeAt(end - 1)
  // Not between the halves of a surrogate pair.
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end) + TRUNCATION_NOTICE
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}
