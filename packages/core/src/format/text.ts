/** Finds the strings of an entry that are too long for its line, and cuts them. `blobs.ts` moves them to the blob store instead. */
import { BLOB_TEXT_UNITS, TRUNCATED_TEXT_UNITS, TRUNCATION_NOTICE } from "./limits.ts"
import { getAt, pointerOf, setAt } from "./pointer.ts"

export interface Place {
  readonly pointer: string
  readonly text: string
  /** The `data` of an object whose type is `image`. */
  readonly image: boolean
}

interface StringFilter {
  /** Whether to return this string. */
  readonly wanted: (text: string, image: boolean) => boolean
  /** Whether to look into this object or array. Default: into all. */
  readonly enter?: (holder: object) => boolean
}

/** The wanted strings of an entry, in order. {@link BASE_FIELDS} are skipped. */
export function findStrings(entry: object, filter: StringFilter): readonly Place[] {
  const found: Place[] = []
  // An explicit stack, because parsed JSON may be nested deeper than the call stack allows.
  const open: Frame[] = [{ holder: entry, keys: Object.keys(entry), next: 0 }]
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const key = frame.keys[frame.next++]
    if (key === undefined) {
      open.pop()
      continue
    }
    if (open.length === 1 && BASE_FIELDS.has(key)) continue
    const value = (frame.holder as Readonly<Record<string, unknown>>)[key]
    if (typeof value === "string") {
      const image = key === "data" && (frame.holder as { type?: unknown }).type === "image"
      if (!filter.wanted(value, image)) continue
      found.push({ pointer: pointerOf(open.map(({ keys, next }) => keys[next - 1] ?? "")), text: value, image })
    } else if (typeof value === "object" && value !== null && filter.enter?.(value) !== false) {
      open.push({ holder: value, keys: Object.keys(value), next: 0 })
    }
  }
  return found
}

/** The fields that the log itself is built on; they always stay in the line. */
export const BASE_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "parentId",
  "seq",
  "timestamp",
  "writtenAt",
  "blobs",
])

/** An object or array on the stack of the walk. */
interface Frame {
  readonly holder: object
  readonly keys: readonly string[]
  next: number
}

export interface TruncateLimits {
  /** Longer strings are cut. Default {@link BLOB_TEXT_UNITS}. */
  readonly textUnits?: number | undefined
  /** Their length afterwards in UTF-16 units, notice included. Default {@link TRUNCATED_TEXT_UNITS}, or `textUnits` if that is less. */
  readonly leave?: number
}

/** The entry with its oversize strings cut: see `checked.ts`. */
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
  // Never between the two units of a surrogate pair.
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end) + TRUNCATION_NOTICE
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines
}

/**
 * Whether a block must stay as it is, to the last character, because its provider verifies it: `signature`, `thinkingSignature`,
 * `encrypted_content`, redacted thinking.
 */
export function isOpaque(holder: object): boolean {
  if (Array.isArray(holder)) return false
  const { type, redacted } = holder as { type?: unknown; redacted?: unknown }
  if (type === "redacted_thinking" || redacted === true) return true
  return Object.entries(holder).some(
    ([key, value]) => typeof value === "string" && value !== "" && /signature$|^encrypted/i.test(key),
  )
}
