/** How much metadata a log has, and the entries with which it has more than a session takes. */
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { withFields } from "../../format/json-edit.ts"
import { MAX_METADATA_BYTES, MAX_METADATA_KEYS } from "../../format/limits.ts"
import type { Fields } from "../../format/shape.ts"
import { utf8Length } from "../../storage/utf8.ts"

/** The metadata of a log up to some line. */
export interface MetadataSize {
  /** The bytes of each key with its value. */
  readonly sizes: Map<string, number>
  bytes: number
}

export function noMetadata(): MetadataSize {
  return { sizes: new Map(), bytes: 1 }
}

export function metadataSize(metadata: Fields): MetadataSize {
  const size = noMetadata()
  for (const [key, value] of Object.entries(metadata)) set(size, key, bytesOf(key, value))
  return size
}

/** Counts an entry, if it sets metadata. */
export function addMetadata(size: MetadataSize, entry: Entry): void {
  const key = keyOf(entry)
  if (key !== undefined) set(size, key, bytesOf(key, entry["value"]))
}

/** Reports metadata of which a session takes less. */
export function checkMetadata({ sizes, bytes }: MetadataSize, report: Report): void {
  if (sizes.size <= MAX_METADATA_KEYS && bytes <= MAX_METADATA_BYTES) return
  const message = `The metadata have ${sizes.size} keys and ${bytes} bytes; a session takes ${MAX_METADATA_KEYS} and ${MAX_METADATA_BYTES}, so none can be added.`
  report({ code: "much_metadata", message })
}

/** Counts an entry; the diagnostic if a session does not take it, and it is not counted. */
export function refuseMetadata(size: MetadataSize, entry: Entry): Diagnostic | undefined {
  const key = keyOf(entry)
  if (key === undefined) return undefined
  const bytes = bytesOf(key, entry["value"])
  const before = size.sizes.get(key)
  const isOneMore = before === undefined && size.sizes.size >= MAX_METADATA_KEYS
  if (!isOneMore && size.bytes - (before ?? 0) + bytes <= MAX_METADATA_BYTES) {
    set(size, key, bytes)
    return undefined
  }
  const { id, seq } = entry
  const message = `Entry ${id} (line ${seq}) sets a metadata key with ${bytes} bytes beyond the ${MAX_METADATA_KEYS} keys and ${MAX_METADATA_BYTES} bytes of a session. It was kept as an entry of the type ${KEPT_AS}.`
  return { code: "much_metadata", seq, entryId: id, message }
}

/** The type of an entry that an import keeps without its effect: no list reads it. */
const KEPT_AS = "sessions:metadata"

/** The line of a metadata entry that is kept without its effect. */
export function withoutEffect(line: string): string {
  return withFields(line, { type: KEPT_AS })
}

function keyOf({ type, key, value }: Entry & Fields): string | undefined {
  return type === "metadata" && typeof key === "string" && value !== undefined ? key : undefined
}

function set(size: MetadataSize, key: string, bytes: number): void {
  size.bytes += bytes - (size.sizes.get(key) ?? 0)
  size.sizes.set(key, bytes)
}

/** Bytes of a key and its value in JSON; 0 for a value that is nested too deeply to be written. */
function bytesOf(key: string, value: unknown): number {
  try {
    return utf8Length(JSON.stringify({ [key]: value })) - 1
  } catch {
    return 0
  }
}
