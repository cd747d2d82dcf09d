/** Compares items and names transactions: JSON with sorted keys. Properties that are undefined do not count, as in JSON. */
import { sha256Hex } from "@sessions/core/storage"
import { isBytes, toBase64 } from "./base64.ts"
import { isObject } from "./items.ts"

/** Equal texts for equal values. */
export function canonical(value: unknown): string {
  // No JSON text begins like this, so bytes differ from every other value.
  if (isBytes(value)) return `bytes:${toBase64(value)}`
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).filter((key) => value[key] !== undefined)
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
    .join(",")}}`
}

export function hashOf(value: unknown): Promise<string> {
  return sha256Hex(new TextEncoder().encode(canonical(value)))
}
