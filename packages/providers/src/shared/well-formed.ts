/** JSON values without halves of surrogate pairs, which UTF-8 cannot hold. */
import { isObject } from "@sessions/formats/messages/values"

/** With U+FFFD in place of each half. The same value if it has none. */
export function wellFormed<T>(value: T): T {
  if (typeof value === "string") return (isWellFormed(value) ? value : value.replaceAll(HALF, "\ufffd")) as T
  if (Array.isArray(value)) {
    const list = (value as readonly unknown[]).map(wellFormed)
    return list.every((one, i) => one === value[i]) ? value : (list as T)
  }
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([key, one]) => [wellFormed(key), wellFormed(one), key, one] as const)
  if (fields.every(([key, one, oldKey, old]) => key === oldKey && one === old)) return value
  return Object.fromEntries(fields) as T
}

/** The expression takes 90 ms for an image of 5 MB; an engine knows that a text in base64 has no surrogates. */
function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?: () => boolean }).isWellFormed?.() === true
}

/** With the flag `u` a whole pair is one character, which is none of these. */
const HALF = /[\ud800-\udfff]/gu
