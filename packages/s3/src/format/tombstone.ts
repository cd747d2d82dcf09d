/**
 * What stands in the place of something deleted, for good: a late write then finds that the object it expects is gone. A random
 * token gives each its own ETag, so none is ever mistaken for an earlier one. Exactly 64 bytes, which nothing alive has, so that
 * a listing tells the two apart without reading.
 */
const SIZE = 64
const PATTERN = /^\{"@sessions\/s3":"([0-9a-z]{12})-([0-9a-z]{12})-([0-9a-z]{12})"\} *$/

/** Before the bytes of a document or blob: makes every write's ETag its own, and what is alive longer than a tombstone. */
export const ENVELOPE_SIZE = 65

const encoder = new TextEncoder()

export interface Tombstone {
  /** Of whatever is made here next. */
  readonly life: string
  /** Of this tombstone alone. */
  readonly token: string
  /** Of the write that made what is gone: its maker, whose answer was lost, learns of it here. */
  readonly made: string
}

export function createTombstone({ life, token, made }: Tombstone): Uint8Array {
  return encoder.encode(`{"@sessions/s3":"${life}-${token}-${made}"}`.padEnd(SIZE))
}

export function isTombstone(size: number): boolean {
  return size === SIZE
}

/** Undefined where somebody else made it. */
export function parseTombstone(bytes: Uint8Array): Tombstone | undefined {
  const [, life, token, made] = PATTERN.exec(new TextDecoder().decode(bytes)) ?? []
  return life === undefined || token === undefined || made === undefined ? undefined : { life, token, made }
}

/** `replaced`: the token of what stood there before, so that a write whose answer was lost can tell that it never was there. */
export function wrap(content: Uint8Array, token: string, replaced = ""): Uint8Array {
  const bytes = new Uint8Array(ENVELOPE_SIZE + content.length)
  bytes.set(
    encoder.encode(`${`{"format":"@sessions/s3","v":1,"t":"${token}${replaced}"}`.padEnd(ENVELOPE_SIZE - 1)}\n`),
  )
  bytes.set(content, ENVELOPE_SIZE)
  return bytes
}

const ENVELOPE = /^\{"format":"@sessions\/s3","v":(\d+),"t":"([0-9a-z]{12})([0-9a-z]{12})?"\} *\n$/

export interface Wrapped {
  readonly content: Uint8Array
  /** It was written with this one. */
  readonly token: string
  /** What it replaced was written with this one; undefined where nothing stood there. */
  readonly replaced: string | undefined
}

/** What a document or blob holds; undefined where it is none. */
export function unwrap(bytes: Uint8Array): Wrapped | undefined {
  if (bytes.length < ENVELOPE_SIZE) return undefined
  const found = ENVELOPE.exec(new TextDecoder().decode(bytes.subarray(0, ENVELOPE_SIZE)))
  if (found?.[1] !== "1") return undefined
  return { content: bytes.subarray(ENVELOPE_SIZE), token: found[2] as string, replaced: found[3] }
}
