/** Ids that follow from others, so that a repeated import or export gives the same: of sessions, and UUIDs for formats that need them. */
import { sha256Hex } from "@sessions/core/storage"

/** The id of the session that a source session becomes: `<format>.<hash of its id there>`. Source ids may have any length and characters. */
export async function sessionIdOf(format: string, sourceId: string): Promise<string> {
  return `${format}.${(await sha256Hex(sourceId)).slice(0, HASH_DIGITS)}`
}

/** 128 bits. */
const HASH_DIGITS = 32

/** A UUID that follows from a text: version 8, RFC 9562. A text that is a UUID is returned unchanged. */
export async function uuidOf(text: string): Promise<string> {
  if (isUuid(text)) return text
  const hex = await sha256Hex(text)
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4]
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-")
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}
