/** JSON values: their type, and their comparison. */
import type { Fields } from "./shape.ts"

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** Whether two values are the same JSON; the order of keys does not count. Not recursive, because stored values may have any depth. */
export function isSameJson(one: unknown, other: unknown): boolean {
  const pairs: unknown[] = [one, other]
  while (pairs.length > 0) {
    const [a, b] = [pairs.pop(), pairs.pop()]
    if (a === b) continue
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const keys = Object.keys(a)
    if (keys.length !== Object.keys(b).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false
      pairs.push((a as Fields)[key], (b as Fields)[key])
    }
  }
  return true
}
