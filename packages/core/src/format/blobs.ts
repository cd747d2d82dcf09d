/**
 * Blob references: long strings and images of an entry are moved to the blob store and restored when the entry is loaded. The entry's
 * `blobs` names their locations; a string elsewhere that looks like a reference is ordinary text. `docs/format.md`, "Outside the line".
 */
import { isWellFormed } from "../storage/utf8.ts"
import { fromBase64, toBase64 } from "./base64.ts"
import { isSetting } from "./entry-types.ts"
import type { EncodedEntry } from "./line.ts"
import { BLOB_IMAGE_CHARS, BLOB_TEXT_UNITS } from "./limits.ts"
import { getAt, pathOf, setAt } from "./pointer.ts"
import { isObject } from "./shape.ts"
import { BASE_FIELDS, findStrings, type Place } from "./text.ts"

export type BlobEncoding = "utf8" | "base64"

export interface BlobLimits {
  /** Strings longer than this many UTF-16 units are moved. Default {@link BLOB_TEXT_UNITS}; `Infinity`: none. */
  readonly textUnits?: number
  /** Images whose base64 has this many characters or more are moved. Default {@link BLOB_IMAGE_CHARS}. */
  readonly imageChars?: number
}

/** A string to move, and the bytes to store. */
export interface PlannedBlob {
  readonly pointer: string
  readonly encoding: BlobEncoding
  readonly bytes: Uint8Array
}

/** A location in an entry, and the blob that belongs there. */
export interface BlobRef {
  readonly pointer: string
  readonly encoding: BlobEncoding
  /** 64 lower-case hex digits: the SHA-256 of the bytes. */
  readonly hash: string
}

export interface RefOptions {
  /** For logs of other programs, which have no `blobs`: also the `data` of image blocks, in which the prefix cannot be base64. */
  readonly foreign?: boolean
}

export interface Restored<E> {
  readonly entry: E
  /** Hashes of blobs that are missing or do not have the encoding of their location. Their references stay. */
  readonly missing: readonly string[]
}

/** The strings of an entry to move to the blob store: see `checked.ts`. */
export function planBlobs(entry: object, limits: BlobLimits = {}): readonly PlannedBlob[] {
  // A blob is named by its SHA-256. Without Web Crypto, as on a page over http, the content stays in the line, as far as one may go.
  if (globalThis.crypto?.subtle === undefined) return []
  const { textUnits = BLOB_TEXT_UNITS, imageChars = BLOB_IMAGE_CHARS } = limits
  const named = blobsOf(entry)
  // The entry of another program uses the field `blobs` for something else: it must stay, so no location can be named.
  if (named === undefined) return []
  const large = findStrings(entry, {
    wanted: (text, image) => text.length > textUnits || (image && text.length >= imageChars),
  })
  const { type } = entry as { type?: unknown }
  const stays = (pointer: string): boolean => {
    const [field = "", name = ""] = pathOf(pointer) ?? []
    return Object.hasOwn(named, pointer) || isSetting(type as string, field, name)
  }
  return large.flatMap((place) => (stays(place.pointer) ? [] : (toBlob(place, imageChars) ?? [])))
}

/** The entry with references in place of these strings, and their locations in `blobs`. */
export function applyBlobs<E extends object>(entry: E, moved: readonly BlobRef[]): E {
  if (moved.length === 0) return entry
  const applied = setAt(entry, new Map(moved.map((ref) => [ref.pointer, PREFIX + ref.hash])))
  const blobs = { ...blobsOf(entry), ...Object.fromEntries(moved.map((ref) => [ref.pointer, ref.encoding])) }
  return { ...applied, blobs }
}

/** All references of an entry: the locations named in `blobs` that have one. A base field is never a reference. */
export function blobRefs(entry: object, o: RefOptions = {}): readonly BlobRef[] {
  const named = blobsOf(entry) ?? NONE
  const images = o.foreign === true ? imageRefs(entry) : []
  if (named === NONE) return images
  const refs: BlobRef[] = []
  for (const [pointer, encoding] of Object.entries(named)) {
    const hash = hashOf(getAt(entry, pointer))
    if (hash !== undefined && !BASE_FIELDS.has(pathOf(pointer)?.[0] ?? "")) refs.push({ pointer, encoding, hash })
  }
  return [...refs, ...images.filter(({ pointer }) => !Object.hasOwn(named, pointer))]
}

/** The references in the image blocks of an entry's content. */
function imageRefs(entry: object): readonly BlobRef[] {
  const { message, replacement } = entry as { message?: unknown; replacement?: unknown }
  const refs: BlobRef[] = []
  addImageRefs(entry, "", refs)
  addImageRefs(message, "/message", refs)
  addImageRefs(replacement, "/replacement", refs)
  return refs
}

function addImageRefs(holder: unknown, path: string, refs: BlobRef[]): void {
  const content = isObject(holder) ? holder["content"] : undefined
  if (!Array.isArray(content)) return
  for (let index = 0; index < content.length; index++) {
    const block: unknown = content[index]
    const hash = isObject(block) && block["type"] === "image" ? hashOf(block["data"]) : undefined
    if (hash !== undefined) refs.push({ pointer: `${path}/content/${index}/data`, encoding: "base64", hash })
  }
}

/** The entry with its strings back in place. */
export function restoreBlobs<E extends object>(
  entry: E,
  bytesByHash: (hash: string) => Uint8Array | undefined,
  o: RefOptions = {},
): Restored<E> {
  const values = new Map<string, string>()
  const missing = new Set<string>()
  for (const ref of blobRefs(entry, o)) {
    const text = toText(bytesByHash(ref.hash), ref.encoding)
    if (text === undefined) missing.add(ref.hash)
    else values.set(ref.pointer, text)
  }
  if (values.size === 0) return { entry, missing: [...missing] }
  const { blobs, ...rest } = setAt(entry, values) as E & { readonly blobs?: object }
  const left = Object.entries(blobs ?? {}).filter(([pointer]) => !values.has(pointer))
  const restored = left.length === 0 ? rest : { ...rest, blobs: Object.fromEntries(left) }
  return { entry: restored as E, missing: [...missing] }
}

const NONE: Readonly<Record<string, BlobEncoding>> = {}
const PREFIX = "blob:sha256:"
const REFERENCE = /^blob:sha256:([0-9a-f]{64})$/

function hashOf(value: unknown): string | undefined {
  // The length first, because the text may have megabytes.
  return typeof value === "string" && value.length === PREFIX.length + 64 ? REFERENCE.exec(value)?.[1] : undefined
}

/** The locations that an entry names; undefined if its `blobs` has another meaning. */
function blobsOf(entry: object): Readonly<Record<string, BlobEncoding>> | undefined {
  const { blobs } = entry as { blobs?: unknown }
  if (blobs === undefined) return NONE
  const ours = isObject(blobs) && Object.values(blobs).every((encoding) => encoding === "utf8" || encoding === "base64")
  return ours ? (blobs as Record<string, BlobEncoding>) : undefined
}

function toBlob({ pointer, text, image }: Place, imageChars: number): PlannedBlob | undefined {
  const decoded = image && text.length >= imageChars ? fromBase64(text) : undefined
  if (decoded !== undefined) return { pointer, encoding: "base64", bytes: decoded }
  return isWellFormed(text) ? { pointer, encoding: "utf8", bytes: new TextEncoder().encode(text) } : undefined
}

function toText(bytes: Uint8Array | undefined, encoding: BlobEncoding): string | undefined {
  if (bytes === undefined) return undefined
  if (encoding === "base64") return toBase64(bytes)
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Whether `planBlobs` may find something in an encoded entry. Cheap, and false for almost every entry. */
export function mayHoldBlobs({ before, after }: EncodedEntry, limits: BlobLimits = {}): boolean {
  const { textUnits = BLOB_TEXT_UNITS, imageChars = BLOB_IMAGE_CHARS } = limits
  const units = before.length + after.length
  if (units > textUnits) return true
  // V8 prepares a search for seven characters or more, which costs 5 % of an append of 2 KB; it looks for six at once. Inside a text the
  // second quote would be escaped.
  return units >= imageChars && after.includes('"image') && after.includes('"image"')
}
