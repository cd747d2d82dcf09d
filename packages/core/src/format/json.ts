/** The comparison of JSON values. */
import { isObject } from "./shape.ts"

/** Whether two values are the same JSON; the order of keys does not count. Not recursive, because stored values may have any depth. */
export function isSameJson(one: unknown, other: unknown): boolean {
  const left = [one]
  const right = [other]
  while (left.length > 0) {
    const a = left.pop()
    const b = right.pop()
    if (a === b) continue
    if (Array.isArray(a)) {
      if (!Array.isArray(b) || a.length !== b.length) return false
      for (const value of a as unknown[]) left.push(value)
      for (const value of b as unknown[]) right.push(value)
    } else {
      if (!isObject(a) || !isObject(b) || Array.isArray(b)) return false
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        left.push(a[key])
        right.push(b[key])
      }
    }
  }
  return true
}
