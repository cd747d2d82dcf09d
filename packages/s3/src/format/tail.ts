/** The tail, the one mutable object of a session: a manifest and the newest lines, or a tombstone once it is deleted. */
import { type Head, headAt } from "@sessions/core/storage"
import { TOKEN_LENGTH } from "../base/time.ts"
import { decodeUtf8 } from "../base/utf8.ts"
import { creationTokenOf, encodeManifest, type Manifest, parseManifest, tailBytesOf } from "./manifest.ts"
import { isTombstone, parseTombstone } from "./tombstone.ts"

export interface LiveTail {
  readonly kind: "live"
  readonly etag: string
  /** Undefined for a tail that this process wrote: the answer to a PUT does not have it. */
  readonly lastModified?: number
  readonly manifest: Manifest
  readonly lines: readonly string[]
}

export type Tail =
  | LiveTail
  /** The session was never created. `generation` is that of a session created here. */
  | { readonly kind: "absent"; readonly generation: string }
  /** The session was deleted. `generation` is that of the next one; `createdBy` is the token that created the deleted one. */
  | { readonly kind: "deleted"; readonly etag: string; readonly generation: string; readonly createdBy: string }

/** Why a tail cannot be read. */
export type Unreadable =
  | { readonly kind: "newer"; readonly version: unknown }
  | { readonly kind: "broken"; readonly why: string }

export const ABSENT: Tail = { kind: "absent", generation: "0".repeat(TOKEN_LENGTH) }

const encoder = new TextEncoder()

export function encodeTail(manifest: Manifest, lines: readonly string[]): Uint8Array {
  return encoder.encode(`${encodeManifest(manifest)}\n${lines.length === 0 ? "" : `${lines.join("\n")}\n`}`)
}

export function decodeTail(
  bytes: Uint8Array,
  { etag, lastModified }: { readonly etag: string; readonly lastModified: number },
): Tail | Unreadable {
  if (isTombstone(bytes.length)) {
    const tombstone = parseTombstone(bytes)
    if (tombstone === undefined) return broken("it is neither a tail nor a tombstone")
    return { kind: "deleted", etag, generation: tombstone.generation, createdBy: tombstone.createdBy }
  }
  const end = bytes.indexOf(10)
  const manifest = end === -1 ? undefined : decodeManifest(bytes.subarray(0, end))
  if (manifest === undefined) return broken("it has no manifest")
  if ("kind" in manifest) return manifest
  const rest = bytes.subarray(end + 1)
  const wrongSize = checkTailBytes(manifest, rest.length)
  if (wrongSize !== undefined) return wrongSize
  const text = decodeUtf8(rest)
  if (text === undefined) return broken("its lines are not UTF-8")
  const lines = text.split("\n")
  if (lines.pop() !== "" || lines.length !== manifest.next - manifest.from) {
    return broken(`it has ${lines.length} lines, not ${manifest.next - manifest.from}`)
  }
  const { line0, from } = manifest
  if (line0 !== undefined && from === 0 && line0 !== lines[0])
    return broken("its first line is not the one in its manifest")
  return { kind: "live", etag, lastModified, manifest, lines }
}

/** The head of the log, with the mark of its last line if that is in the tail. */
export function headOf({ manifest: { next, log }, lines }: LiveTail): Head {
  return headAt(next, log, lines.at(-1))
}

export function etagOf(tail: Tail): string | undefined {
  return tail.kind === "absent" ? undefined : tail.etag
}

/** The generation of the session's documents and segments, or of the session that is created next. */
export function generationOf(tail: Tail): string {
  return tail.kind === "live" ? tail.manifest.generation : tail.generation
}

/** So many characters of its token recognize a first creation; the others keep the generations of a session unique. */
const FIRST_CREATION_LENGTH = 4

/**
 * The generation that a deletion of this log begins; `token` makes it unique. All generations since there was no tail begin like
 * the token of the creation at that time, the first one. A tombstone has only the token of the last creation. A first creation that was
 * refused although it was applied would not be recognized by that once the session was created and deleted again.
 */
export function nextGenerationOf(manifest: Manifest, token: string): string {
  const first = manifest.generation === generationOf(ABSENT) ? creationTokenOf(manifest) : manifest.generation
  return `${first.slice(0, FIRST_CREATION_LENGTH)}${token.slice(FIRST_CREATION_LENGTH)}`
}

/** Whether the first creation had this token. By chance also true for one in 1.7 million others. */
export function mayBeFirstCreation(generation: string, token: string): boolean {
  return generation.slice(0, FIRST_CREATION_LENGTH) === token.slice(0, FIRST_CREATION_LENGTH)
}

/** Decodes the first line of a tail. */
export function decodeManifest(bytes: Uint8Array): Manifest | Unreadable {
  const text = decodeUtf8(bytes)
  const parsed = text === undefined ? { broken: "its manifest is not UTF-8" } : parseManifest(text)
  if ("broken" in parsed) return broken(parsed.broken)
  return "newer" in parsed ? { kind: "newer", version: parsed.newer } : parsed
}

export function isUnreadable(tail: Tail | Unreadable | Manifest): tail is Unreadable {
  return "kind" in tail && (tail.kind === "newer" || tail.kind === "broken")
}

/** Time of the last append, in whole seconds: S3 answers GET with seconds but LIST with milliseconds. */
export function updatedAtOf(manifest: Manifest, lastModified: number): number {
  return manifest.at ?? Math.floor(lastModified / 1000) * 1000
}

/** `bytes`: of the lines after the manifest. */
export function checkTailBytes(manifest: Manifest, bytes: number): Unreadable | undefined {
  const expected = tailBytesOf(manifest)
  return bytes === expected ? undefined : broken(`it has ${bytes} bytes of lines, not ${expected}`)
}

export function broken(why: string): Unreadable {
  return { kind: "broken", why }
}
