/** The first line of a tail: all there is to know of a log but its lines. */
import type { Seq } from "@sessions/core/storage"
import type { EtagForm } from "../object-store/object-store.ts"
import { TOKEN_LENGTH } from "../base/time.ts"

/** A sealed stretch of the log: an object of its own, never changed. */
export interface Segment {
  /** The last part of its key. */
  readonly name: string
  readonly from: Seq
  readonly bytes: number
  /** Lines and bytes of its pieces, each of about `segmentBytes`: where to look for a seq without reading what is before it. */
  readonly pieces: readonly (readonly [lines: number, bytes: number])[]
}

export interface Manifest {
  /** Identity of the log. */
  readonly log: string
  /** What the session's segments and documents lie under; another one after a delete, so that nothing old is ever met again. */
  readonly life: string
  readonly next: Seq
  /** Of the whole log. */
  readonly bytes: number
  /** Seq of the tail's first line. */
  readonly from: Seq
  /** How this bucket compares ETags; `"none"` where it does not, and `unsafeSingleWriter` was given. */
  readonly etags: EtagForm | "none"
  /** Grows when a collector passes: a segment written before that may be gone, unless a tail already names it. */
  readonly fence: number
  /** Of the last append, where the tail was written for another reason since. */
  readonly at?: number
  /** The log's first line, unless it is long: every resume wants it. */
  readonly line0?: string
  readonly info?: { readonly text: string; readonly next: Seq }
  /** First seq and token of the newest appends: by it a writer knows its own. */
  readonly writes: readonly (readonly [from: Seq, token: string])[]
  readonly segments: readonly Segment[]
}

/** A longer first line is read where it lies. */
export const MAX_LINE0_BYTES = 8_192
/** So many appends may pass between a write and the answer that asks for it; further back its lines are compared. */
export const KEPT_WRITES = 32

const FORMAT = "@sessions/s3"
const VERSION = 1

export function encodeManifest(manifest: Manifest): string {
  return JSON.stringify({ format: FORMAT, v: VERSION, ...manifest })
}

/** A text says why it is none; `newer` where another version of this package wrote it. */
export function parseManifest(text: string): Manifest | { readonly broken: string } | { readonly newer: unknown } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { broken: "its first line is no JSON" }
  }
  if (!isObject(value) || value["format"] !== FORMAT) return { broken: "its first line is no manifest of @sessions/s3" }
  if (value["v"] !== VERSION) return { newer: value["v"] }
  const { format: _format, v: _version, ...manifest } = value
  const wrong = FIELDS.find(([name, holds]) => !holds(manifest[name]))
  if (wrong !== undefined) return { broken: `\`${wrong[0]}\` of its manifest is not what it should be` }
  const checked = manifest as unknown as Manifest
  return isContiguous(checked) ? checked : { broken: "its segments do not follow each other" }
}

/** The token of the write that made the log, which its identity begins with. */
export function makerOf({ log }: Manifest): string {
  return log.slice(0, TOKEN_LENGTH)
}

export function linesOfSegment({ pieces }: Segment): number {
  let lines = 0
  for (const piece of pieces) lines += piece[0]
  return lines
}

/** Bytes of the lines in the tail itself. */
export function tailBytesOf({ bytes, segments }: Manifest): number {
  return segments.reduce((rest, segment) => rest - segment.bytes, bytes)
}

function isContiguous(manifest: Manifest): boolean {
  const { segments, from, next } = manifest
  let seq = 0
  for (const segment of segments) {
    if (segment.from !== seq) return false
    seq += linesOfSegment(segment)
    if (segment.pieces.reduce((sum, [, bytes]) => sum + bytes, 0) !== segment.bytes) return false
  }
  return seq === from && from <= next && next > 0 && tailBytesOf(manifest) >= 0
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isMissingOr =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || holds(value)

const FIELDS: readonly (readonly [keyof Manifest, (value: unknown) => boolean])[] = [
  ["log", isText],
  ["life", isText],
  ["next", isCount],
  ["bytes", isCount],
  ["from", isCount],
  ["fence", isCount],
  ["etags", (value) => value === "quoted" || value === "bare" || value === "none"],
  ["at", isMissingOr(isCount)],
  ["line0", isMissingOr(isText)],
  ["info", isMissingOr((value) => isObject(value) && typeof value["text"] === "string" && isCount(value["next"]))],
  [
    "writes",
    (value) => Array.isArray(value) && value.every((one) => Array.isArray(one) && isCount(one[0]) && isText(one[1])),
  ],
  ["segments", (value) => Array.isArray(value) && value.every(isSegment)],
]

function isSegment(value: unknown): boolean {
  if (!isObject(value) || !isText(value["name"]) || !isCount(value["from"]) || !isCount(value["bytes"])) return false
  const { pieces } = value
  return Array.isArray(pieces) && pieces.every((one) => Array.isArray(one) && isCount(one[0]) && isCount(one[1]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}
