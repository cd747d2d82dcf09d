/** The one object of a session that changes: a manifest, then the newest lines; or a tombstone. */
import { TOKEN_LENGTH } from "../base/time.ts"
import { isTombstone, parseTombstone } from "./tombstone.ts"
import type { Manifest } from "./manifest.ts"
import { encodeManifest, parseManifest, tailBytesOf } from "./manifest.ts"

export interface LiveTail {
  readonly kind: "live"
  readonly etag: string
  /** Undefined where it was written here: the store does not say when. */
  readonly lastModified?: number
  readonly manifest: Manifest
  readonly lines: readonly string[]
}

export type Tail =
  | LiveTail
  /** Never made; what comes first lives under this life. */
  | { readonly kind: "absent"; readonly life: string }
  /** Deleted; what is made next lives under this life. */
  | { readonly kind: "gone"; readonly etag: string; readonly life: string; readonly made: string }

/** What a tail cannot be read for. */
export type Unreadable =
  | { readonly kind: "newer"; readonly version: unknown }
  | { readonly kind: "broken"; readonly why: string }

export const ABSENT: Tail = { kind: "absent", life: "0".repeat(TOKEN_LENGTH) }

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
    return { kind: "gone", etag, life: tombstone.life, made: tombstone.made }
  }
  const end = bytes.indexOf(10)
  const manifest = end === -1 ? undefined : decodeManifest(bytes.subarray(0, end))
  if (manifest === undefined) return broken("it has no manifest")
  if ("kind" in manifest) return manifest
  const rest = bytes.subarray(end + 1)
  if (rest.length !== tailBytesOf(manifest))
    return broken(`it has ${rest.length} bytes of lines, not ${tailBytesOf(manifest)}`)
  const text = decode(rest)
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

export function etagOf(tail: Tail): string | undefined {
  return tail.kind === "absent" ? undefined : tail.etag
}

/** What documents and segments of the session lie under, or will. */
export function lifeOf(tail: Tail): string {
  return tail.kind === "live" ? tail.manifest.life : tail.life
}

/** The manifest from the first bytes of a tail, as far as they hold it. */
export function decodeManifest(bytes: Uint8Array): Manifest | Unreadable {
  const text = decode(bytes)
  const parsed = text === undefined ? { broken: "its manifest is not UTF-8" } : parseManifest(text)
  if ("broken" in parsed) return broken(parsed.broken)
  return "newer" in parsed ? { kind: "newer", version: parsed.newer } : parsed
}

export function isUnreadable(tail: Tail | Unreadable | Manifest): tail is Unreadable {
  return "kind" in tail && (tail.kind === "newer" || tail.kind === "broken")
}

/** When the log was last appended to. S3 tells seconds in one answer and parts of them in another. */
export function updatedAtOf(manifest: Manifest, lastModified: number): number {
  return manifest.at ?? Math.floor(lastModified / 1000) * 1000
}

export function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function broken(why: string): Unreadable {
  return { kind: "broken", why }
}
