/**
 * Copies JSON values, so that callers may change what they get. Written by hand because every context is copied: 0.5 µs a message, in
 * place of 4 by way of JSON text.
 */

/** `JSON.parse` makes values deeper than recursion can go. */
const DEEPEST_RECURSION = 200

export function cloneJson<T>(value: T): T {
  return (isObjectOrArray(value) ? copyOf(value, 0) : value) as T
}

type Fields = Record<string, unknown>

/** The two loops are alike. One for both, over `Object.keys`, takes twice as long. */
function copyOf(value: object, depth: number): object {
  if (depth === DEEPEST_RECURSION) return copyWithoutRecursion(value)
  if (Array.isArray(value)) {
    const list = new Array<unknown>(value.length)
    for (let index = 0; index < list.length; index++) {
      const inner: unknown = value[index]
      list[index] = isObjectOrArray(inner) ? copyOf(inner, depth + 1) : inner
    }
    return list
  }
  const fields = shallow(value)
  for (const key in fields) {
    const inner = fields[key]
    // An own key `__proto__` is assigned like any other: `shallow` has defined it.
    if (isObjectOrArray(inner)) fields[key] = copyOf(inner, depth + 1)
  }
  return fields
}

function copyWithoutRecursion(value: object): object {
  const root = shallow(value)
  const open = [root]
  for (let copy = open.pop(); copy !== undefined; copy = open.pop()) {
    for (const key of Object.keys(copy)) {
      const inner = copy[key]
      if (!isObjectOrArray(inner)) continue
      const child = shallow(inner)
      copy[key] = child
      open.push(child)
    }
  }
  return root
}

/** Spread defines the keys, also `__proto__`. An array is used by the names of its indices. */
function shallow(value: object): Fields {
  return (Array.isArray(value) ? value.slice() : { ...value }) as Fields
}

function isObjectOrArray(value: unknown): value is object {
  return typeof value === "object" && value !== null
}
