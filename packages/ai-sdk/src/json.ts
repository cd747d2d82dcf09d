/** JSON values: a copy as it is stored, and comparison. */
import { SessionError } from "@sessions/core"
import { type Fields, isObject } from "@sessions/core/format"

export { type Fields, isObject }

/** The value as JSON has it, so that what is compared is what is read later. Throws `invalid` if it has no JSON. */
export function asJson<T>(value: T, name: string): T {
  try {
    return JSON.parse(JSON.stringify(value)) as T
  } catch (error) {
    throw new SessionError("invalid", `${name} cannot be stored as JSON: ${String(error)}. Nothing was written.`)
  }
}

/** Whether two JSON values are equal; the order of keys does not count, since databases change it. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
}

/** Top-level fields that turn one object into another. */
export interface Change {
  readonly set?: Fields
  readonly unset?: readonly string[]
}

export function changeBetween(from: Fields, to: Fields): Change {
  const set = Object.entries(to).filter(([key, value]) => !Object.hasOwn(from, key) || !isEqual(from[key], value))
  const unset = Object.keys(from).filter((key) => !Object.hasOwn(to, key))
  return {
    ...(set.length === 0 ? {} : { set: Object.fromEntries(set) }),
    ...(unset.length === 0 ? {} : { unset }),
  }
}

export function applyChange<T extends object>(to: T, { set, unset }: Change): T {
  const left = Object.entries(to).filter(([key]) => unset?.includes(key) !== true)
  return { ...Object.fromEntries(left), ...set } as T
}
