/** JSON values without halves of surrogate pairs, which UTF-8 cannot hold. */
import { isObject } from "@sessions/formats/messages/values"

/** With U+FFFD in place of each half. The same value if it has none. */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (mended(value) as T)
}

/** Without copies: nearly every value is. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return isWellFormedText(value)
  if (!isObject(value)) return !Array.isArray(value) || value.every(isWellFormed)
  return Object.keys(value).every((key) => isWellFormedText(key) && isWellFormed(value[key]))
}

function mended(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(HALF, "\ufffd")
  if (!isObject(value)) return Array.isArray(value) ? value.map(mended) : value
  return Object.fromEntries(Object.entries(value).map(mended) as [string, unknown][])
}

/** The expression takes 90 ms for an image of 5 MB; an engine knows that a text in base64 has no surrogates. */
function isWellFormedText(text: string): boolean {
  return (text as { isWellFormed?: () => boolean }).isWellFormed?.() ?? text.search(HALF) < 0
}

/** With the flag `u` a whole pair is one character, which is none of these. */
const HALF = /[\ud800-\udfff]/gu
