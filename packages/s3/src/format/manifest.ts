/** The manifest, the first line of a tail: identity and size of the log, its newest writes, and the index of its segments. */
import type { Head, Seq } from "@sessions/core/storage"
import { TOKEN_LENGTH } from "../base/time.ts"
import type { EtagForm } from "../object-store/object-store.ts"

/** Sealed lines of the log: an immutable object of its own. */
export interface Segment {
  /** Last component of its key. */
  readonly name: string
  readonly from: Seq
  readonly bytes: number
  /**
   * Lines and bytes of each block of about `segmentBytes`: finds a seq without reading the blocks before it. Stored as `pieces`.
   */
  readonly blocks: readonly (readonly [lines: number, bytes: number])[]
}

export interface Manifest {
  /** Identity of the log. */
  readonly log: string
  /**
   * Key component of the session's segments and documents. A deletion begins a new generation, so that objects of a deleted
   * session are never found again. Stored as `life`.
   */
  readonly generation: string
  readonly next: Seq
  /** Bytes of the whole log. */
  readonly bytes: number
  /** Seq of the tail's first line. */
  readonly from: Seq
  /** How the bucket compares ETags; `"none"` if it does not, and `unsafeSingleWriter` was given. */
  readonly etags: EtagForm | "none"
  /** The stores, by endpoint and bucket, that have proven it: a copy of the bucket may lie in one that has not. */
  readonly proven?: readonly string[]
  /** Incremented by garbage collection: a segment written before that may be gone, unless a tail already names it. */
  readonly fence: number
  /** Time of the last append, if the tail was written for another reason since. */
  readonly at?: number
  /** The log's first line, unless it is long: every resume needs it. */
  readonly line0?: string
  readonly info?: { readonly text: string; readonly next: Seq }
  /** The head of the log that this one replaced: an append that expected it was not committed. */
  readonly replaced?: Head
  /** First seq and token of the newest appends, by which a writer recognizes its own. */
  readonly writes: readonly (readonly [from: Seq, token: string])[]
  readonly segments: readonly Segment[]
}

/** A longer first line is not copied into the manifest. */
export const MAX_FIRST_LINE_BYTES = 8_192
/** If more appends than this pass before a writer resolves an unknown outcome, it compares lines instead of tokens. */
export const KEPT_WRITES = 32

const FORMAT = "@sessions/s3"
const VERSION = 1

/** The manifest of a log without lines. */
export function emptyManifest(
  log: string,
  generation: string,
  { etags, proven }: Pick<Manifest, "etags" | "proven">,
): Manifest {
  const proof = { etags, ...(proven !== undefined && { proven }) }
  return { log, generation, next: 0, bytes: 0, from: 0, ...proof, fence: 0, writes: [], segments: [] }
}

export function encodeManifest({ log, generation, segments, ...rest }: Manifest): string {
  const stored = segments.map(({ blocks, ...segment }) => ({ ...segment, pieces: blocks }))
  return JSON.stringify({ format: FORMAT, v: VERSION, log, life: generation, ...rest, segments: stored })
}

/** `broken` says why the text is not a manifest; `newer` is the version of a later format. */
export function parseManifest(text: string): Manifest | { readonly broken: string } | { readonly newer: unknown } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { broken: "its first line is not JSON" }
  }
  if (!isObject(value) || value["format"] !== FORMAT) {
    return { broken: "its first line is not a manifest of @sessions/s3" }
  }
  if (value["v"] !== VERSION) return { newer: value["v"] }
  const wrong = FIELDS.find(([name, isValid]) => !isValid(value[name]))
  if (wrong !== undefined) return { broken: `\`${wrong[0]}\` of its manifest is not valid` }
  const { format: _format, v: _version, life, segments, ...rest } = value as unknown as StoredManifest
  const parsed = segments.map(({ pieces, ...segment }) => ({ ...segment, blocks: pieces }))
  const manifest: Manifest = { ...rest, generation: life, segments: parsed }
  return isContiguous(manifest) ? manifest : { broken: "its segments do not follow each other" }
}

/** The manifest as the JSON has it. */
type StoredManifest = Omit<Manifest, "generation" | "segments"> & {
  readonly format: string
  readonly v: number
  readonly life: string
  readonly segments: readonly (Omit<Segment, "blocks"> & { readonly pieces: Segment["blocks"] })[]
}

/** The token of the write that created the session: the identity of its log begins with it, also after a replace. */
export function creationTokenOf({ log }: Manifest): string {
  return log.slice(0, TOKEN_LENGTH)
}

export function linesOfSegment({ blocks }: Segment): number {
  let lines = 0
  for (const block of blocks) lines += block[0]
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
    if (segment.blocks.reduce((sum, [, bytes]) => sum + bytes, 0) !== segment.bytes) return false
  }
  return seq === from && from <= next && next > 0 && tailBytesOf(manifest) >= 0
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isOptional =
  (isValid: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || isValid(value)

const FIELDS: readonly (readonly [keyof StoredManifest, (value: unknown) => boolean])[] = [
  ["log", isText],
  ["life", isText],
  ["next", isCount],
  ["bytes", isCount],
  ["from", isCount],
  ["fence", isCount],
  ["etags", (value) => value === "quoted" || value === "bare" || value === "none"],
  ["proven", isOptional((value) => Array.isArray(value) && value.every(isText))],
  ["at", isOptional(isCount)],
  ["line0", isOptional(isText)],
  ["info", isOptional((value) => isObject(value) && typeof value["text"] === "string" && isCount(value["next"]))],
  ["replaced", isOptional((value) => isObject(value) && isText(value["log"]) && isCount(value["next"]))],
  [
    "writes",
    (value) => Array.isArray(value) && value.every((one) => Array.isArray(one) && isCount(one[0]) && isText(one[1])),
  ],
  ["segments", (value) => Array.isArray(value) && value.every(isStoredSegment)],
]

function isStoredSegment(value: unknown): boolean {
  if (!isObject(value) || !isText(value["name"]) || !isCount(value["from"]) || !isCount(value["bytes"])) return false
  const { pieces } = value
  return Array.isArray(pieces) && pieces.every((one) => Array.isArray(one) && isCount(one[0]) && isCount(one[1]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}
